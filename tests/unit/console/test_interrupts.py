from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pkg.console.streams import keep_interrupts
from pkg.errors import StoreError


@contextmanager
def connect(fault: Exception) -> Iterator[None]:
    """Fail to close, as a connection does that an interrupt has cut in the middle of a message."""
    try:
        yield
    finally:
        raise fault


def test_what_fails_while_an_interrupt_is_on_its_way_out_does_not_stand_in_its_place() -> None:
    with pytest.raises(KeyboardInterrupt) as raised, keep_interrupts(), connect(StoreError("closed")):
        raise KeyboardInterrupt
    assert str(raised.value.__cause__) == "closed"


def lose_connection() -> None:
    try:
        with connect(BufferError("resized")):
            raise KeyboardInterrupt
    except BufferError as fault:
        raise StoreError("lost") from fault


def answer_interrupt() -> None:
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    raise StoreError("later")


def test_an_interrupt_is_found_behind_faults_that_others_gave_rise_to() -> None:
    with pytest.raises(KeyboardInterrupt), keep_interrupts():
        lose_connection()


def test_an_interrupt_that_was_answered_is_over() -> None:
    with pytest.raises(StoreError, match="later"), keep_interrupts():
        answer_interrupt()


def test_other_faults_stay_as_they_are_though_they_be_their_own_cause() -> None:
    fault = StoreError("full")
    fault.__cause__, fault.__context__ = OSError("disk"), fault
    with pytest.raises(StoreError, match="full"), keep_interrupts():
        raise fault
