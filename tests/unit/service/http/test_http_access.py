"""Programs are admitted by a token that is hard to guess."""

from __future__ import annotations

import pytest

from pkg.errors import UsageError
from pkg.service.http.http_access import TOKEN_VARIABLE, WebToken, choose_token, has_bearer_token

KEPT = "kept-by-the-person"


def test_a_token_is_generated_for_every_address_but_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    assert choose_token("127.0.0.1") is None
    made, again, wanted = choose_token("192.0.2.7"), choose_token("192.0.2.7"), choose_token("127.0.0.1", True)
    assert made is not None
    assert again is not None
    assert wanted is not None
    assert (made.is_new, wanted.is_new) == (True, True)
    assert len(made.text) > 30
    assert made != again


@pytest.mark.parametrize("kept", [KEPT, f" {KEPT}\n"])
def test_the_token_of_the_environment_is_stripped(monkeypatch: pytest.MonkeyPatch, kept: str) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, kept)
    assert choose_token("127.0.0.1") == choose_token("192.0.2.7", True) == WebToken(KEPT, is_new=False)


@pytest.mark.parametrize(
    "kept", ["short", "short          \n      ", "p\u00e4sswords_of_all_sorts", "two words of a person"]
)
def test_a_short_or_invalid_token_is_refused(monkeypatch: pytest.MonkeyPatch, kept: str) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, kept)
    with pytest.raises(UsageError, match=f"{TOKEN_VARIABLE} has .* expected at least 16"):
        choose_token("127.0.0.1")


@pytest.mark.parametrize(
    ("header", "is_borne"),
    [
        (f"Bearer {KEPT}", True),
        (f"bearer   {KEPT} ", True),
        (f"Basic {KEPT}", False),
        (KEPT, False),
        ("Bearer", False),
        ("Bearer ", False),
        (f"Bearer {KEPT}x", False),
        (f"Bearer {KEPT[:-1]}", False),
        ("Bearer \xff\u2603", False),
        ("", False),
    ],
)
def test_the_bearer_token_of_a_header_is_checked(header: str, is_borne: bool) -> None:
    assert has_bearer_token(header, KEPT) is is_borne
