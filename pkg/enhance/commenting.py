"""Write comments together with a docstring, to be stored and undone with it (P-08)."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock

from pkg.enhance.comments import InlineComment, write_comments
from pkg.enhance.docstring_cache import DocstringCache, make_key
from pkg.enhance.function_facts import FunctionText
from pkg.enhance.writer import DocstringWriter, Failure
from pkg.errors import UsageError
from pkg.model import Docstring
from pkg.models.text_model import TextModel, Usage

VERSION = 1  # of the prompt of a comment
_MARK = f"+comments/{VERSION}"


class CommentingWriter:
    """Writes a docstring, and then comments before the blocks of the function, by the same model."""

    def __init__(self, writer: DocstringWriter, model: TextModel | None, cache: DocstringCache | None = None) -> None:
        """Wrap the writer of docstrings, whose earlier docstrings without comments are in the cache.

        Raises UsageError without a model.
        """
        if model is None:
            raise UsageError(f"the writer '{writer.name}' writes no comments; name a model, or leave --comments out")
        self._writer, self._model, self._cache = writer, model, cache
        self._lock = Lock()
        self._usage = Usage()
        self.name, self.parallel = writer.name, writer.parallel
        self.identity, self.prompt = writer.identity + _MARK, writer.prompt + _MARK

    @property
    def usage(self) -> Usage:
        """Return the cost of docstrings and comments so far."""
        with self._lock:
            return self._writer.usage + self._usage

    def count_prompt_tokens(self, function: FunctionText) -> int:
        """Count the tokens of the docstring's prompt, without sending it."""
        return self._writer.count_prompt_tokens(function)

    def write(self, function: FunctionText) -> Docstring | Failure:
        """Write docstring and comments of a function; raises what the model raises."""
        known = self._cache.find(make_key(function, self._writer)) if self._cache else None
        result = known or self._writer.write(function)
        if isinstance(result, Failure):
            return result
        written = write_comments(function, self._model)
        with self._lock:
            self._usage += written.usage
        return replace(result, prompt=result.prompt + _MARK, comments=tuple(map(_pack, written.comments)))


def _pack(comment: InlineComment) -> str:
    return f"{comment.line} {comment.text}"


def unpack_comments(packed: tuple[str, ...]) -> list[InlineComment]:
    """Parse the comments that are stored with a docstring."""
    parts = (each.partition(" ") for each in packed)
    return [InlineComment(int(line), text) for line, _, text in parts]
