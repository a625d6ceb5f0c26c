"""Pins: what is written for several Pythons gives each of them its own versions back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lock_versions import render, subtract
from packaging.requirements import Requirement

PYTHONS = ("3.10", "3.11", "3.12")
locks = st.fixed_dictionaries(
    {
        python: st.dictionaries(st.sampled_from(["click", "numpy", "rich", "tomli"]), st.sampled_from(["1.0", "2.0"]))
        for python in PYTHONS
    }
)


NEWER = "3.14"  # than all that were locked


def read_pins(lines: list[str], python: str) -> dict[str, str]:
    requirements = [Requirement(line) for line in lines]
    wanted = [pin for pin in requirements if pin.marker is None or pin.marker.evaluate({"python_version": python})]
    return {pin.name: str(pin.specifier).removeprefix("==") for pin in wanted}


@given(locks)
def test_each_python_reads_its_own_versions_from_the_common_file(written: dict[str, dict[str, str]]) -> None:
    lines = render(written)
    assert {python: read_pins(lines, python) for python in PYTHONS} == written
    assert read_pins(lines, NEWER) == written[PYTHONS[-1]]


def test_a_version_that_all_pythons_share_has_no_marker() -> None:
    assert render({"3.10": {"click": "8.1"}, "3.11": {"click": "8.1"}}) == ["click==8.1"]


def test_a_package_that_one_python_needs_is_marked_with_it() -> None:
    assert render({"3.10": {"tomli": "2.5"}, "3.11": {}}) == ["tomli==2.5 ; python_version == '3.10'"]


def test_what_another_file_pins_is_not_pinned_again() -> None:
    dev = {"3.10": {"click": "8.1", "pytest": "9.0"}}
    assert subtract(dev, {"3.10": {"click": "8.1"}}) == {"3.10": {"pytest": "9.0"}}
