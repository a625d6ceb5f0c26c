"""Common parts of services: addresses without passwords, waiting, kinds of refusals."""

from __future__ import annotations

import pytest

from pkg.encode.registry import name_encoder
from pkg.errors import ModelBusyError, UsageError
from pkg.services import call_patiently, conceal_name, judge_refusal, parse_wait, split_address


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"Retry-After": "0.5", "Date": "Thu, 01 Oct 2026 00:00:00 GMT"}, 0.5),
        ({"retry-after": "Thu, 01 Oct 2026 00:00:30 GMT", "date": "Thu, 01 Oct 2026 00:00:00 GMT"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"date": "Thu, 01 Oct 2026 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_the_waiting_time_of_a_service_is_read_in_every_format_of_the_header(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert parse_wait(headers) == seconds


@pytest.mark.parametrize(
    ("detail", "model", "url"),
    [
        ("m", "m", None),
        ("m@http://host:80/v1/", "m", "http://host:80/v1"),
        ("qwen:7b@https://host/v1", "qwen:7b", "https://host/v1"),
        ("@cf/m@https://host/v1", "@cf/m", "https://host/v1"),
        ("claude@20240229", "claude@20240229", None),
    ],
)
def test_a_name_may_hold_an_at_sign_of_its_own(detail: str, model: str, url: str | None) -> None:
    assert split_address(detail, "openai", "model") == (model, url)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("openai:m@https://user:pw@host/v1", "openai:m@https://***@host/v1"),
        ("openai:m@https://host/v1", "openai:m@https://host/v1"),
        ("m@user:pw@host", "***"),
        ("qwen:7b", "qwen:7b"),
    ],
)
def test_a_name_is_shown_without_a_password(name: str, shown: str) -> None:
    assert conceal_name(name) == shown


def test_an_encoder_with_a_password_in_its_address_is_refused_and_not_shown() -> None:
    for name in ("openai:m@https://user:pw@host/v1", "voyage:m@https://user:pw@host/v1", "opena1:m@https://user:pw@h"):
        with pytest.raises(UsageError) as caught:
            name_encoder(name)
        assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "code", "meant"),
    [
        (429, None, "busy"),
        (429, "insufficient_quota", "spent"),
        (402, None, "spent"),
        (503, None, "busy"),
        (401, None, "key"),
        (403, None, "key"),
        (404, None, "missing"),
        (400, None, "refused"),
    ],
)
def test_a_refusal_is_temporary_or_permanent(status: int, code: str | None, meant: str) -> None:
    assert judge_refusal(status, code) == meant


def test_waits_grow_up_to_a_limit_without_a_header() -> None:
    slept: list[float] = []
    faults = iter([None, 7.0, 1000.0, None, -3.0])

    def call() -> str:
        for wait in faults:
            raise ModelBusyError("busy", wait)
        return "done"

    assert call_patiently(call, slept.append) == "done"
    assert slept == [1.0, 7.0, 60.0, 8.0, 0.0]
