"""Texts of models are found again by all of their inputs, and those of a complete command are deleted."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from scripted_model import ScriptedModel

from pkg.errors import ModelBusyError
from pkg.models.prompt_batch import Conversation
from pkg.models.text_cache import TextCache, UnfinishedTexts, make_key
from pkg.models.text_model import Decoding, Generation, Message, Usage

ASKED = Conversation((Message("system", "Be short."), Message("user", "Why?")))
WRITTEN = Generation("Because \ud800 \0 of 'quotes'.".replace("\ud800", "ü"), "length", Usage(1, 7, 3, 0.5))


def test_another_process_finds_a_text(tmp_path: Path) -> None:
    key = make_key(ScriptedModel(["x"]), ASKED, Decoding())
    with closing(TextCache(tmp_path / "a" / "texts.db")) as cache:
        assert cache.find(key) is None
        cache.put(key, WRITTEN)
    with closing(TextCache(tmp_path / "a" / "texts.db")) as cache:
        assert cache.find(key) == WRITTEN
        assert cache.fault is None


def test_the_key_depends_on_all_inputs() -> None:
    model = ScriptedModel(["x"])
    keys = {
        make_key(model, ASKED, Decoding()),
        make_key(ScriptedModel(["x"], identity="another"), ASKED, Decoding()),
        make_key(model, ASKED, Decoding(seed=1)),
        make_key(model, ASKED, Decoding(temperature=0.5)),
        make_key(model, Conversation((Message("user", "Be short."), Message("user", "Why?"))), Decoding()),
        make_key(model, Conversation(ASKED.messages[:1]), Decoding()),
        make_key(model, "Why?", Decoding()),
    }
    assert len(keys) == 7
    assert make_key(model, ASKED, Decoding()) in keys


def test_an_unusable_file_is_reported_without_failing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with closing(TextCache(tmp_path / "file" / "texts.db")) as cache:
        cache.put(b"key", WRITTEN)
        assert cache.find(b"key") is None
        assert "cannot be used" in str(cache.fault)


def test_a_damaged_file_is_recreated(tmp_path: Path) -> None:
    (tmp_path / "texts.db").write_bytes(b"no database " * 1000)
    with closing(TextCache(tmp_path / "texts.db")) as cache:
        cache.put(b"key", WRITTEN)
        assert cache.find(b"key") == WRITTEN


def test_a_text_whose_bytes_have_changed_is_not_found(tmp_path: Path) -> None:
    path = tmp_path / "texts.db"
    with closing(TextCache(path)) as cache:
        cache.put(b"key", WRITTEN)
        cache.run("UPDATE text SET text = replace(text, 'quotes', 'quotas')", ())
        assert cache.find(b"key") is None
        cache.put(b"key", WRITTEN)
        assert cache.find(b"key") == WRITTEN


def fail() -> Generation:
    raise ModelBusyError("busy")


def test_an_interrupted_command_keeps_its_texts_and_a_complete_one_deletes_them(tmp_path: Path) -> None:
    with closing(TextCache(tmp_path / "texts.db")) as cache:
        first = UnfinishedTexts(cache)
        assert first.write(b"a", lambda: WRITTEN) == (WRITTEN, False)
        with pytest.raises(ModelBusyError):
            first.write(b"b", fail)
        first.finish()  # an answer was chosen in spite of the error
        second = UnfinishedTexts(cache)
        assert second.write(b"a", fail) == (WRITTEN, True)
        assert second.write(b"b", lambda: WRITTEN) == (WRITTEN, False)
        second.finish()
        assert UnfinishedTexts(cache).write(b"a", lambda: WRITTEN) == (WRITTEN, False)


def test_a_command_that_repeats_a_request_gets_a_new_text(tmp_path: Path) -> None:
    with closing(TextCache(tmp_path / "texts.db")) as cache:
        texts = UnfinishedTexts(cache)
        assert [texts.write(b"a", lambda: WRITTEN)[1] for _ in range(2)] == [False, False]
