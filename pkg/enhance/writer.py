"""Write the docstring of one function: put together from what it says of itself, or by a text model (P-07, A-14)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from inspect import cleandoc
from threading import Lock
from typing import Protocol

from pkg.enhance.checking import CHANGES_CODE, RefusedError, check_docstring, fits
from pkg.enhance.docstring_forms import FORMS, VERSION, FormName, ask, list_forms, read_answer, render_prompt
from pkg.enhance.function_facts import FunctionFacts, FunctionText, find_facts, parse_function
from pkg.enhance.template import render_template
from pkg.errors import ContextLengthError, InputError, UsageError
from pkg.model import Docstring
from pkg.models import registry
from pkg.models.text_model import TextModel, Usage
from pkg.quoting.special_tokens import break_tokens

TEMPLATE = registry.TEMPLATE
TEMPLATE_VERSION = 1
_ATTEMPTS = 2  # an invalid text is tried once more


@dataclass(frozen=True, slots=True)
class Failure:
    """A function for which no docstring could be written, and why."""

    reason: str


Today = Callable[[], date]


class DocstringWriter(Protocol):
    """Writes docstrings; several threads may ask it at once."""

    @property
    def name(self) -> str:
        """Name it as a docstring names its model."""

    @property
    def identity(self) -> str:
        """Name what its texts depend on, beside the function."""

    @property
    def prompt(self) -> str:
        """Name the form of its prompt and the version."""

    @property
    def parallel(self) -> int:
        """Tell how many functions are worth to be asked for at once."""

    @property
    def usage(self) -> Usage:
        """Tell what its docstrings have cost so far."""

    def count_prompt_tokens(self, function: FunctionText) -> int:
        """Count the tokens that would be sent for a function; nothing is sent."""

    def write(self, function: FunctionText) -> Docstring | Failure:
        """Write the docstring of a function that has none; raises what the model raises."""


def open_writer(name: str, model: TextModel | None = None, form: str | None = None) -> DocstringWriter:
    """Open a writer: template, or that of a model, which is asked in the best form that it can be asked in.

    Raises UsageError for a form that there is not, or that the model cannot be asked in.
    """
    if name == TEMPLATE:
        if form is not None:
            raise UsageError(f"the writer 'template' asks no model, so it has no form '{form}'; leave the form out")
        return TemplateWriter()
    if model is None:
        raise UsageError(f"the writer '{name}' needs a text model, and none was given; 'template' needs none")
    forms = list_forms(model)
    if form is not None and form not in FORMS:
        raise UsageError(f"no form '{form}' of a docstring's prompt; choose one of: {', '.join(FORMS)}")
    if form is not None and form not in forms:
        raise UsageError(f"the form '{form}' needs a model that fills holes; {model.name} does not; use --form chat")
    return ModelWriter(model, next((each for each in forms if each == form), forms[0]))


def read_function(function: FunctionText) -> FunctionFacts | Failure:
    """Read what a function says of itself; a failure where it cannot be parsed or is documented."""
    parsed = parse_function(function.content)
    if parsed is None:
        return Failure("this Python does not parse it, so nothing about it can be checked")
    if ast.get_docstring(parsed, clean=False) is not None:
        return Failure("it has a docstring")
    return find_facts(parsed, function.content, function.is_method)


class TemplateWriter:
    """Puts docstrings together from signature, names, and what is raised and returned; asks nobody."""

    name = TEMPLATE
    prompt = f"{TEMPLATE}/{TEMPLATE_VERSION}"
    identity = prompt
    parallel = 1
    usage = Usage()

    def __init__(self, today: Today = date.today) -> None:
        self._today = today

    def count_prompt_tokens(self, function: FunctionText) -> int:
        """Count nothing: nothing is sent."""
        return 0

    def write(self, function: FunctionText) -> Docstring | Failure:
        """Put together the docstring of a function."""
        facts = read_function(function)
        if isinstance(facts, Failure):
            return facts
        text = cleandoc(break_tokens(render_template(function, facts)))
        if not fits(text, function.content):
            return Failure(CHANGES_CODE)
        return Docstring(text, "template", self.name, self.prompt, self._today().isoformat())


class ModelWriter:
    """Lets a text model write docstrings, and checks them; an invalid one is tried once more, in the next form."""

    def __init__(self, model: TextModel, form: FormName, today: Today = date.today) -> None:
        self._model = model
        self._form = form
        self._today = today
        self._lock = Lock()
        self._usage = Usage()

    @property
    def name(self) -> str:
        """Name the model."""
        return self._model.name

    @property
    def identity(self) -> str:
        """Name what the texts of the model depend on."""
        return self._model.identity

    @property
    def prompt(self) -> str:
        """Name the form that is tried first, with its version."""
        return _name_prompt(self._form)

    @property
    def parallel(self) -> int:
        """Tell how many requests the model takes at once."""
        return self._model.parallel

    @property
    def usage(self) -> Usage:
        """Tell what all texts so far have cost, refused ones included."""
        with self._lock:
            return self._usage

    def count_prompt_tokens(self, function: FunctionText) -> int:
        """Count the tokens of what is sent first for a function; 0 where nothing is."""
        try:
            return render_prompt(self._form, function, self._model.can_prime).count_tokens(self._model)
        except InputError:
            return 0

    def write(self, function: FunctionText) -> Docstring | Failure:
        """Ask for the docstring of a function, twice at most; raises what the model raises.

        Too long a function is a failure, whatever else cannot be answered is an error.
        """
        facts = read_function(function)
        if isinstance(facts, Failure):
            return facts
        reasons = []
        try:
            for attempt in range(_ATTEMPTS):
                form = self._choose_form(attempt)
                try:
                    text = self._ask(form, function, facts, attempt)
                    return Docstring(text, "fim", self.name, _name_prompt(form), self._today().isoformat())
                except RefusedError as fault:
                    reasons.append(str(fault))
        except (ContextLengthError, InputError) as fault:
            return Failure(str(fault))
        return Failure("; then ".join(dict.fromkeys(reasons)))

    def _choose_form(self, attempt: int) -> FormName:
        """Take the wanted form first, and then the best of the others."""
        others = [form for form in list_forms(self._model) if form != self._form]
        return self._form if attempt == 0 or not others else others[0]

    def _ask(self, form: FormName, function: FunctionText, facts: FunctionFacts, attempt: int) -> str:
        is_primed = form != "chat" or self._model.can_prime
        prompt = render_prompt(form, function, is_primed)
        answer = ask(self._model, form, prompt, attempt)
        with self._lock:
            self._usage += answer.usage
        return check_docstring(read_answer(answer.text, is_primed), answer.finish == "stop", function, facts)


def _name_prompt(form: FormName) -> str:
    return f"{form}/{VERSION}"
