"""Write the docstring of one function from a template or by a text model (P-07, A-14)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from inspect import cleandoc
from threading import Lock
from typing import Protocol

from pkg.enhance.checking import CHANGES_CODE, RefusedError, check_docstring, fits
from pkg.enhance.docstring_prompts import (
    PROMPT_NAMES,
    VERSION,
    PromptName,
    ask,
    list_prompt_names,
    read_answer,
    render_prompt,
)
from pkg.enhance.function_facts import FunctionFacts, FunctionText, find_facts, parse_function
from pkg.enhance.template import render_template
from pkg.errors import ContextLengthError, InputError, UsageError
from pkg.model import Docstring, Questions
from pkg.models import registry
from pkg.models.text_model import TextModel, Usage
from pkg.quoting.special_tokens import break_tokens

TEMPLATE = registry.TEMPLATE
TEMPLATE_VERSION = 2
_ATTEMPTS = 2  # with one retry of an invalid text


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why no text could be written for a function."""

    reason: str


Today = Callable[[], date]
GeneratedText = Docstring | Questions


class TextWriter(Protocol):
    """Writes a docstring or questions of functions, for use by several threads."""

    @property
    def name(self) -> str:
        """Return the name that its texts record as their model."""

    @property
    def identity(self) -> str:
        """Return a key of all that determines its texts, beside the function."""

    @property
    def prompt(self) -> str:
        """Return the name and version of its prompt template."""

    @property
    def parallel(self) -> int:
        """Return the useful number of parallel functions."""

    @property
    def usage(self) -> Usage:
        """Return the cost of its texts so far."""

    def count_prompt_tokens(self, function: FunctionText) -> int:
        """Count the tokens of the prompt for a function, without sending it."""

    def write(self, function: FunctionText) -> GeneratedText | Failure:
        """Write the text of a function; raises the errors of the model."""


class DocstringWriter(TextWriter, Protocol):
    """Writes docstrings of functions without one."""

    def write(self, function: FunctionText) -> Docstring | Failure:
        """Write the docstring of a function without one; raises the errors of the model."""


def open_writer(name: str, model: TextModel | None = None, prompt_name: str | None = None) -> DocstringWriter:
    """Open the writer `template` or that of a model, by default with the best prompt template for the model.

    Raises UsageError for a prompt template that is unknown or not supported by the model.
    """
    if name == TEMPLATE:
        if prompt_name is not None:
            raise UsageError(f"the writer 'template' has no prompt; leave out --form {prompt_name}")
        return TemplateWriter()
    if model is None:
        raise UsageError(f"the writer '{name}' needs a text model, and none was given; 'template' needs none")
    supported = list_prompt_names(model)
    if prompt_name is not None and prompt_name not in PROMPT_NAMES:
        raise UsageError(f"no prompt template '{prompt_name}' of docstrings; choose one of: {', '.join(PROMPT_NAMES)}")
    if prompt_name is not None and prompt_name not in supported:
        raise UsageError(
            f"the prompt template '{prompt_name}' requires a model that fills holes; {model.name} does not;"
            " use --form chat"
        )
    return ModelWriter(model, next((each for each in supported if each == prompt_name), supported[0]))


def read_function(function: FunctionText) -> FunctionFacts | Failure:
    """Return the facts of a function, or a failure if it cannot be parsed or has a docstring."""
    parsed = parse_function(function.content)
    if parsed is None:
        return Failure("this version of Python cannot parse it, so no docstring can be checked")
    if ast.get_docstring(parsed, clean=False) is not None:
        return Failure("it has a docstring")
    return find_facts(parsed, function.content, function.is_method)


class TemplateWriter:
    """Writes docstrings from signature, names, exceptions and returned expressions, without a model."""

    name = TEMPLATE
    prompt = f"{TEMPLATE}/{TEMPLATE_VERSION}"
    identity = prompt
    parallel = 1
    usage = Usage()

    def __init__(self, today: Today = date.today) -> None:
        self._today = today

    def count_prompt_tokens(self, function: FunctionText) -> int:
        """Return 0."""
        return 0

    def write(self, function: FunctionText) -> Docstring | Failure:
        """Write the docstring of a function from the template."""
        facts = read_function(function)
        if isinstance(facts, Failure):
            return facts
        text = cleandoc(break_tokens(render_template(function, facts)))
        if not fits(text, function.content):
            return Failure(CHANGES_CODE)
        return Docstring(text, "template", self.name, self.prompt, self._today().isoformat())


class MeteredModel:
    """The text model of a writer, with the cost of all its answers, also of several threads."""

    def __init__(self, model: TextModel, today: Today) -> None:
        self._model = model
        self._today = today
        self._lock = Lock()
        self._usage = Usage()

    @property
    def name(self) -> str:
        """Return the name of the model."""
        return self._model.name

    @property
    def identity(self) -> str:
        """Return the identity of the model."""
        return self._model.identity

    @property
    def parallel(self) -> int:
        """Return the number of parallel requests of the model."""
        return self._model.parallel

    @property
    def usage(self) -> Usage:
        """Return the cost of all answers so far, including refused ones."""
        with self._lock:
            return self._usage

    def add_usage(self, usage: Usage) -> None:
        """Add the cost of an answer."""
        with self._lock:
            self._usage += usage


class ModelWriter(MeteredModel):
    """Writes docstrings by a text model, and checks them; an invalid one is retried with the next prompt template."""

    def __init__(self, model: TextModel, prompt_name: PromptName, today: Today = date.today) -> None:
        super().__init__(model, today)
        self._prompt_name = prompt_name

    @property
    def prompt(self) -> str:
        """Return the name and version of the first prompt template."""
        return _format_version(self._prompt_name)

    def count_prompt_tokens(self, function: FunctionText) -> int:
        """Count the tokens of the first prompt for a function; 0 if it cannot be rendered."""
        try:
            return render_prompt(self._prompt_name, function, self._model.can_prime).count_tokens(self._model)
        except InputError:
            return 0

    def write(self, function: FunctionText) -> Docstring | Failure:
        """Write the docstring of a function in at most two attempts; raises the errors of the model.

        A function that is too long for the model is a failure.
        """
        facts = read_function(function)
        if isinstance(facts, Failure):
            return facts
        reasons = []
        try:
            for attempt in range(_ATTEMPTS):
                prompt_name = self._choose_prompt(attempt)
                try:
                    text = self._ask(prompt_name, function, facts, attempt)
                    return Docstring(text, "fim", self.name, _format_version(prompt_name), self._today().isoformat())
                except RefusedError as fault:
                    reasons.append(str(fault))
        except (ContextLengthError, InputError) as fault:
            return Failure(str(fault))
        return Failure("; then ".join(dict.fromkeys(reasons)))

    def _choose_prompt(self, attempt: int) -> PromptName:
        """Return the chosen template for the first attempt, and then the best of the others."""
        others = [name for name in list_prompt_names(self._model) if name != self._prompt_name]
        return self._prompt_name if attempt == 0 or not others else others[0]

    def _ask(self, prompt_name: PromptName, function: FunctionText, facts: FunctionFacts, attempt: int) -> str:
        is_primed = prompt_name != "chat" or self._model.can_prime
        prompt = render_prompt(prompt_name, function, is_primed)
        answer = ask(self._model, prompt_name, prompt, attempt)
        self.add_usage(answer.usage)
        return check_docstring(read_answer(answer.text, is_primed), answer.finish == "stop", function, facts)


def _format_version(prompt_name: PromptName) -> str:
    return f"{prompt_name}/{VERSION}"
