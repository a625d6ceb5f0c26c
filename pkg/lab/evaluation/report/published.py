"""Figures published in the paper on Programming Knowledge Graphs, to compare with ours (P-32, P-33, P-36)."""

from __future__ import annotations

from collections.abc import Mapping

HUMANEVAL = {
    "CodeLlama-7B": (33, 21, 42, 33, 38, 40, 46, 56),
    "CodeLlama-13B": (42, 34, 45, 43, 46, 47, 51, 63),
    "Llama3.1-8B": (55, 34, 50, 54, 55, 50, 61, 75),
    "StarCoder2-7B": (45, 41, 53, 57, 56, 59, 63, 72),
    "DeepSeek-7B": (70, 44, 60, 62, 69, 68, 73, 83),
}
MBPP = {
    "CodeLlama-7B": (38, 27, 32, 27, 44, 46, 58, 60),
    "CodeLlama-13B": (44, 36, 26, 36, 40, 48, 55, 57),
    "Llama3.1-8B": (43, 38, 41, 41, 46, 49, 63, 66),
    "StarCoder2-7B": (46, 25, 17, 31, 29, 51, 62, 64),
    "DeepSeek-7B": (56, 50, 45, 47, 50, 47, 65, 68),
}
"""The paper's tables 1 and 2: pass@1 in per cent, in the order of pkg.lab.evaluation.code.columns.PAPER.

VoyageEmb is Dense. Its table of errors contradicts these for two models; these are trusted (A-17).
"""

ERRORS_MBPP = {
    ("CodeLlama-7B", "None"): (180, 138, 28, 0, 0, 11),
    ("CodeLlama-7B", "PKG"): (162, 65, 37, 1, 0, 4),
    ("StarCoder2-7B", "None"): (198, 51, 11, 2, 0, 3),
    ("StarCoder2-7B", "PKG"): (147, 64, 8, 0, 18, 7),
    ("DeepSeek-7B", "None"): (135, 64, 4, 0, 0, 5),
    ("DeepSeek-7B", "PKG"): (146, 78, 16, 0, 0, 9),
}
"""The paper's table 3: failures on the 500 tasks of MBPP, in the order of pkg.lab.evaluation.code.scorer.ERRORS."""

COSTS: Mapping[str, tuple[int | None, ...]] = {
    "code extraction": (3, 3, None, None),
    "block extraction": (25, 25, None, None),
    "enhancement": (5150, None, None, None),
    "encoding": (240, 240, 240, 44),
    "storing": (33, 33, None, None),
    "all": (5451, 301, 240, 44),
    "MB stored": (12530, 12530, 8440, 315),
}
"""The paper's table 4: minutes of each stage, and megabytes, of the approaches in COSTED."""

COSTED = ("PKG, enhanced", "PKG", "VoyageAI", "BM25")

TUTORIALS: Mapping[str, tuple[float | None, ...]] = {
    "CodeLlama-7B": (33, None, 36),
    "CodeLlama-13B": (42, None, 41),
    "Llama3.1-8B": (55, None, 63),
    "StarCoder2-7B": (45, 34.8, 61),
    "DeepSeek-7B": (70, None, 58),
}
"""The paper's table 5: pass@1 on HumanEval in per cent without context, with tutorials as text, and as a graph."""
