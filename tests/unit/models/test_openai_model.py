"""Limits of requests and tokens in a minute."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from pkg.models.openai_model import MINUTE, RateLimit


@dataclass
class Clock:
    """Time that passes only when somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def tell(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@given(
    sizes=st.lists(st.integers(1, 50), max_size=30),
    requests=st.none() | st.integers(1, 5),
    tokens=st.none() | st.integers(1, 80),
)
def test_no_minute_exceeds_the_limits(sizes: list[int], requests: int | None, tokens: int | None) -> None:
    clock = Clock()
    limit = RateLimit(requests, tokens, clock.tell, clock.sleep)
    sent = []
    for size in sizes:
        limit.wait(size)
        sent.append((clock.now, size))
    for begin, _ in sent:
        within = [size for at, size in sent if begin <= at < begin + MINUTE]
        assert requests is None or len(within) <= requests
        assert tokens is None or sum(within) <= tokens or len(within) == 1
    assert not (requests is None and tokens is None) or not clock.slept


def test_a_request_waits_no_longer_than_needed() -> None:
    clock = Clock()
    limit = RateLimit(2, None, clock.tell, clock.sleep)
    limit.wait(1)
    clock.now = 10.0
    limit.wait(1)
    limit.wait(1)
    assert clock.slept == [50.0]
