"""Any report of a candidate's process becomes a verdict on that candidate, and never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.sandbox import Kind, Limits, Verdict, render_value
from pkg.sandbox.claims import MalformedError, parse_claims, parse_value
from pkg.sandbox.launch import Isolation
from pkg.sandbox.protocol import STARTED, RunOutcome
from pkg.sandbox.worker import Worker, judge_run

LIMITS = Limits(output_bytes=4096)
GOOD: dict[str, Any] = {"kind": "ok", "detail": "", "seconds": 0.0, "value": None}
TEXTS = st.text(st.characters(exclude_categories=()))
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from(["set", "dict", "ok", "repr"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS | st.sampled_from(sorted(GOOD)), inner),
    max_leaves=12,
)
SEVERAL = st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(GOOD, ANYTHING)) | ANYTHING, max_size=3)


def pack(*messages: object) -> bytes:
    bodies = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    return STARTED + b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


def judge(report: bytes) -> tuple[Verdict, Verdict | None]:
    return judge_run(RunOutcome(None, "", 0, 0.5, b"", report, b""), LIMITS, has_step=True)


def is_sound(verdict: Verdict) -> bool:
    verdict.detail.encode("utf-8")
    if verdict.value is not None:
        parse_value(verdict.value)
    return isinstance(verdict.kind, Kind) and 0.0 <= verdict.seconds <= 0.5


@given(st.binary(max_size=200))
def test_any_bytes_are_a_verdict(report: bytes) -> None:
    assert is_sound(judge(report)[0])


@given(SEVERAL)
def test_any_messages_are_verdicts(messages: list[object]) -> None:
    assert all(is_sound(verdict) for verdict in judge(pack(*messages)) if verdict is not None)


@given(ANYTHING)
def test_any_text_of_a_value_is_a_verdict(tree: object) -> None:
    load, step = judge(pack(GOOD, GOOD | {"value": json.dumps(tree)}))
    assert load.kind is Kind.OK
    assert step is not None
    assert is_sound(step)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": []},
        {"kind": {}},
        {"kind": "nothing"},
        {"kind": "timeout"},
        {"kind": None},
        {"detail": 3},
        {"detail": ["x"]},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"seconds": -1},
        {"seconds": True},
        {"seconds": "1"},
        {"seconds": 10**400},
        {"value": 4},
        {"value": ["4"]},
        {"value": "4 4"},
        {"value": "x" * 5000},
        {"value": '"\u00fc"'},
        {"more": 1},
    ],
)
def test_a_report_of_the_wrong_shape_says_what_was_wrong(fields: dict[str, Any]) -> None:
    (verdict,) = parse_claims(pack(GOOD | fields), LIMITS)
    assert verdict.kind is Kind.OTHER
    assert verdict.detail.startswith("malformed report: ")
    assert len(verdict.detail) < 200


@pytest.mark.parametrize("message", [None, [], 3, "ok", {}, {"kind": "ok"}, [GOOD], b"\xff\xfe", b"[" * 9000, b""])
def test_what_is_no_report_ends_what_is_believed(message: object) -> None:
    claims = parse_claims(pack(GOOD, message, GOOD), LIMITS)
    assert [claim.kind for claim in claims] == [Kind.OK, Kind.OTHER]


def test_a_report_that_breaks_off_is_none() -> None:
    assert [claim.kind for claim in parse_claims(pack(GOOD, GOOD)[:-1], LIMITS)] == [Kind.OK]


def test_a_detail_cannot_command_the_terminal_that_shows_it() -> None:
    (claim,) = parse_claims(pack(GOOD | {"detail": "a\x1b[2Jb\ud800\n c"}), LIMITS)
    assert claim.detail == "a?[2Jb? c"


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "null null", "[" * 5000, "{}", '{"set":3}', '{"set":{}}', '{"tuple":null}', '{"dict":[1]}'),
        *('{"dict":[[1]]}', '{"dict":[[1,2,3]]}', '{"bytes":3}', '{"bytes":"\\u0100"}', '{"int":"12"}', '{"int":5}'),
        *('{"complex":[1]}', '{"complex":[true,1.0]}', '{"complex":["1","2"]}', '{"repr":"x"}', '{"repr":[1,2]}'),
        *('{"long":["x","y"]}', '{"other":[]}', '{"set":[],"tuple":[]}', "9" * 5000, '[{"iterator":0}]'),
        "[" * 70 + "]" * 70,
        *('{"made":["Fraction","1/0"]}', '{"made":["date","2021-02-30"]}', '{"made":["time","24:00:01"]}'),
        *('{"made":["timedelta","999999999 99999 0"]}', '{"made":["datetime","2021-01-01 00:00:00+99:00"]}'),
    ],
)
def test_what_no_value_is_rendered_as_is_malformed(text: str) -> None:
    with pytest.raises(MalformedError):
        parse_value(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.binary() | st.complex_numbers(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.integers() | TEXTS, inner),
    max_leaves=20,
)


@given(VALUES)
def test_every_value_that_is_rendered_is_read(value: object) -> None:
    parse_value(render_value(value))


def test_the_deepest_the_longest_and_the_strangest_values_are_read() -> None:
    nested: object = 1
    for _ in range(200):
        nested = [nested]
    for value in (nested, "\x7f\\" * 9000, 1 << 20_000, {frozenset({(1, b"x")}): {1.5}}, object(), iter([{1}])):
        parse_value(render_value(value, most=2000))


class Garbling:
    """A fake worker that starts and then sends a malformed answer."""

    def __init__(self, body: bytes) -> None:
        self.pieces = [pack({"layers": {}}).removeprefix(STARTED), pack(body).removeprefix(STARTED)]

    def write(self, data: bytes) -> None:
        pass

    def read(self, seconds: float) -> bytes | None:
        return self.pieces.pop(0) if self.pieces else None

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    "body",
    [
        *(b"[]", b"{}", b"\xff", b"[" * 9000),
        b'{"cause": "x", "reason": "", "status": 0, "seconds": 0, "sizes": [0, 0, 0], "is_fit": true}',
        b'{"cause": null, "reason": "", "status": [], "seconds": 0, "sizes": [0, 0, 0], "is_fit": true}',
    ],
)
def test_a_worker_that_answers_nonsense_is_given_up_and_its_run_is_judged(body: bytes) -> None:
    worker = Worker(Garbling(body), Isolation(False, False, False, "/box"))
    verdict, _ = worker.run("", None, LIMITS)
    assert (verdict.kind, verdict.detail) == (Kind.OTHER, "the worker of the sandbox sent a malformed answer")
    assert not worker.is_fit
