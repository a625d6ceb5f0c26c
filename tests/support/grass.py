"""Read a style sheet as the Neo4j Browser reads it: it knows no comments, and a rule with a second colon is lost."""

from __future__ import annotations

import re
from collections.abc import Mapping

Style = dict[str, dict[str, str]]


def parse_style(text: str) -> Style:
    """Give the properties of each selector, such as node.Function; what the Browser would leave out is an error."""
    rules = re.findall(r"([^{}]+?)\s*\{((?:\"[^\"]*\"|[^\"}])*)\}\s*", text)
    assert "".join(re.sub(r"\s", "", f"{name}{{{body}}}") for name, body in rules) == re.sub(r"\s", "", text)
    return {
        name.strip(): dict(_parse_property(each) for each in body.split(";") if each.strip()) for name, body in rules
    }


def _parse_property(text: str) -> tuple[str, str]:
    name, value = text.split(":")
    return name.strip(), value.strip().strip('"')


def make_caption(style: Style, label: str, properties: Mapping[str, object]) -> str:
    """Write the caption of a node: names in braces are replaced by its properties, a property it lacks by nothing."""
    caption = style[f"node.{label}"]["caption"]
    return re.sub(r"\{([^{}]*)\}", lambda found: str(properties.get(found[1], "")), caption)
