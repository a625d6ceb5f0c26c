"""Which text models there are; looking one up imports nothing of it."""

from __future__ import annotations

from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, overload

from pkg.errors import MissingExtraError, UsageError
from pkg.models.model_options import ModelOptions, read_options
from pkg.services import conceal_name, split_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from pkg.models.text_model import TextModel

TEMPLATE = "template"
"""The name of the writer that makes docstrings of what stands in the code; it is no model of texts."""


@dataclass(frozen=True, slots=True)
class ModelKind:
    """One kind of text model: how it is written, where it is made, and what it needs."""

    form: str
    module: str
    packages: tuple[str, ...]  # modules that it imports
    extra: str  # the extra that brings them

    def list_missing(self) -> list[str]:
        """List the packages that are not installed."""
        return [package for package in self.packages if find_spec(package) is None]


KINDS = {
    "openai": ModelKind("openai:NAME@URL", "pkg.models.openai_model", ("openai",), "openai"),
    "hf": ModelKind("hf:NAME_OR_FOLDER", "pkg.models.hf_model", ("transformers", "torch"), "hf"),
    "gguf": ModelKind("gguf:FILE", "pkg.models.gguf_model", ("xllamacpp", "openai"), "gguf"),
}
FORMS = (*(kind.form for kind in KINDS.values()), TEMPLATE)


def split_name(name: str) -> tuple[str, str]:
    """Split the name of a model into its kind and what follows; a UsageError for what is no model.

    `template` is a kind of its own, with nothing behind it.
    """
    word, _, detail = name.partition(":")
    if name == TEMPLATE:
        return name, ""
    if word not in KINDS or not detail:
        raise UsageError(f"no model '{conceal_name(name)}'; expected one of: {', '.join(FORMS)}")
    if word == "openai":
        split_address(detail, word, "model")
    return word, detail


def locate_model(name: str) -> str:
    """Name a file or folder of a model from the root on; a model that is no file of this machine stays as it is."""
    word, _, detail = name.partition(":")
    path = Path(detail).expanduser()
    is_file = word == "gguf" or (
        word == "hf" and (path.exists() or detail.startswith((".", "~")) or detail.endswith(".gguf"))
    )
    return f"{word}:{path.absolute()}" if detail and is_file else name


def check_ready(name: str) -> None:
    """Raise what using a model would raise for want of a package: a MissingExtraError, or a UsageError for no model."""
    word, _ = split_name(name)
    kind = KINDS.get(word)
    for package in kind.list_missing() if kind else ():
        raise MissingExtraError(package, KINDS[word].extra, f"the model '{name}'")


def open_model(name: str, options: ModelOptions | None = None) -> TextModel:
    """Open a model by its name; close it after use. What the options leave open the environment may say.

    Raises UsageError for a name that is none and for `template`, MissingExtraError, and ModelError for a model that
    cannot be used.
    """
    word, detail = split_name(name)
    if word == TEMPLATE:
        raise UsageError(
            f"'{TEMPLATE}' writes docstrings only (pkg enhance); expected a model that writes any text:"
            f" {', '.join(kind.form for kind in KINDS.values())}"
        )
    check_ready(name)
    make: Callable[[str, ModelOptions], TextModel] = import_module(KINDS[word].module).open_model
    return make(detail, (options or ModelOptions()).fill_up(read_options()))


@overload
def use_model(model: str | TextModel) -> AbstractContextManager[TextModel]: ...
@overload
def use_model(model: str | TextModel | None) -> AbstractContextManager[TextModel | None]: ...
def use_model(model: str | TextModel | None) -> AbstractContextManager[TextModel | None]:
    """Open a model that is named, and close it in the end; one that is open already stays so, and none is none.

    Raises what open_model raises.
    """
    return closing(open_model(model)) if isinstance(model, str) else nullcontext(model)
