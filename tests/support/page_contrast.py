"""Measure the contrast of a page's texts against their backgrounds."""

from __future__ import annotations

import json

from chromium import Page

CONTRAST = """(() => {
    const light = (colour) => {
        const canvas = document.createElement('canvas').getContext('2d');
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((each) => each / 255)
            .map((each) => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const background = (node) => {
        for (let each = node; each; each = each.parentElement) {
            const colour = getComputedStyle(each).backgroundColor;
            if (colour !== 'rgba(0, 0, 0, 0)') return colour;
        }
    };
    const ratios = [...document.querySelectorAll(SELECTOR)].filter((each) => each.checkVisibility()).map((node) => {
        const [low, high] = [light(getComputedStyle(node).color), light(background(node))].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
    });
    return Math.min(...ratios);
})()"""
"""The lowest contrast of the visible texts, as defined by WCAG."""


def find_contrast(page: Page, selector: str) -> float:
    """Return the lowest contrast among the matches of a selector."""
    return float(page.run(CONTRAST.replace("SELECTOR", json.dumps(selector))))
