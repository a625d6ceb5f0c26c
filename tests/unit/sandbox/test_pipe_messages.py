"""Messages are received as they were sent, and malformed data is not accepted."""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pkg.sandbox.pipe_messages import HEADER_BYTES, pack_message, receive_message, send_bytes, split_messages

TEXTS = st.text(st.characters(exclude_categories=()))
MESSAGES = st.dictionaries(TEXTS, st.lists(TEXTS | st.integers() | st.booleans() | st.none()))


@given(st.lists(MESSAGES))
def test_messages_are_split_as_they_were_packed(messages: list[dict[str, Any]]) -> None:
    assert [json.loads(body) for body in split_messages(b"".join(map(pack_message, messages)))] == messages


@given(MESSAGES, st.integers(1, 3))
def test_a_message_cut_short_is_left_out(message: dict[str, Any], missing: int) -> None:
    assert split_messages(pack_message(message)[:-missing]) == []


@given(st.binary())
def test_of_nonsense_no_more_is_given_than_was_there(data: bytes) -> None:
    assert sum(len(body) + HEADER_BYTES for body in split_messages(data)) <= len(data)


def test_a_message_longer_than_a_pipe_arrives_whole() -> None:
    reading, writing = os.pipe()
    sender = threading.Thread(target=send_bytes, args=(writing, pack_message({"text": "x" * 3_000_000})))
    sender.start()
    assert receive_message(reading) == {"text": "x" * 3_000_000}
    sender.join()
    os.close(writing)
    assert receive_message(reading) is None
    os.close(reading)
