"""The list of packages that are learned from."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EVALUATED = {
    "astropy", "django", "networkx", "nltk", "pandas", "scikit-image", "scikit-learn", "scipy", "sphinx", "sqlalchemy",
    "statsmodels", "sympy", "twisted", "spyder", "rich", "flask", "httpx", "requests",
}  # fmt: skip


def test_each_package_is_pinned_and_says_its_licence_and_none_is_measured_on() -> None:
    rows = json.loads((ROOT / "training" / "packages.json").read_text("utf-8"))
    assert 20 <= len(rows) <= 40
    names = [row["name"] for row in rows]
    assert names == sorted(set(names))
    assert not EVALUATED & set(names)
    assert all(len(row["sha256"]) == 64 and row["version"] and row["licence"] for row in rows)
