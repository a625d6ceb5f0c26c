"""Options of a model beside its name."""

from __future__ import annotations

import pytest

from pkg.errors import UsageError
from pkg.models.model_options import ModelOptions, read_options


def test_the_environment_completes_the_options_of_the_caller() -> None:
    told = read_options({"PKG_MODEL_WINDOW": "2048", "PKG_MODEL_THREADS": "3", "PKG_ALLOW_DOWNLOAD": "1"})
    assert ModelOptions(window=512).fill_up(told) == ModelOptions(window=512, threads=3, allow_download=True)


def test_an_empty_environment_sets_no_option() -> None:
    assert read_options({"PKG_MODEL_WINDOW": " "}) == ModelOptions()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("PKG_MODEL_WINDOW", "many", "a whole number above 0, of tokens"),
        ("PKG_MODEL_PARALLEL", "0", "a whole number above 0, of requests"),
        ("PKG_REQUESTS_PER_MINUTE", "-5", "a whole number above 0"),
        ("PKG_ALLOW_DOWNLOAD", "yes", "1 or 0"),
        ("PKG_FIM_ORDER", "mps", "psm or spm"),
    ],
)
def test_an_invalid_value_is_refused(name: str, value: str, expected: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is '{value}'; expected {expected}"):
        read_options({name: value})
