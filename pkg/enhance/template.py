"""Write a docstring from the function's own signature, names, exceptions and returned expressions (A-14).

Without a model, the text is deterministic and contains no guess.
"""

from __future__ import annotations

from collections.abc import Iterator

from pkg.enhance.function_facts import FunctionFacts, FunctionText, Parameter
from pkg.errors import shorten
from pkg.terms.words import split_by_case

_MOST = 80  # characters of an expression
_SPECIAL = {"init": "initialise", "str": "text", "repr": "representation", "len": "length", "iter": "iterate over"}
_SPECIAL |= {"eq": "compare", "call": "call", "enter": "enter", "exit": "leave", "del": "free", "bool": "truth"}
_QUESTIONS = ("is", "has", "can", "should", "was", "are", "does", "needs")


def render_template(function: FunctionText, facts: FunctionFacts) -> str:
    """Render a docstring of purpose, inputs and outputs."""
    sections = [
        ("Args", [_describe_parameter(each) for each in facts.parameters]),
        ("Yields" if facts.yields else "Returns", list(_describe_output(facts))),
        ("Raises", [_describe_error(name, message) for name, message in facts.raises.items()]),
    ]
    paragraphs = [_render_purpose(function, facts)]
    if facts.comment:
        paragraphs.append(_make_sentence(facts.comment))
    paragraphs += ["\n    ".join((f"{title}:", *lines)) for title, lines in sections if lines]
    return "\n\n".join(paragraphs)


def split_name(name: str) -> list[str]:
    """Split an identifier into its words, in lower case except acronyms."""
    words = split_by_case(name.encode("utf-8", "replace"))
    return [word if word.isupper() and len(word) > 1 and name != name.upper() else word.lower() for word in words]


def _render_purpose(function: FunctionText, facts: FunctionFacts) -> str:
    name = function.name
    words = split_name(name) or [name]
    if name.startswith("__") and name.endswith("__"):
        words = [_SPECIAL.get(words[0], words[0]), *words[1:]]
    elif words[0] in _QUESTIONS:
        subject = function.class_name or ("they" if words[0] == "are" else "it")
        return _make_sentence(" ".join(["return whether", subject, *words]))
    link = " a new " if name == "__init__" else " of "
    owner = link + function.class_name if function.class_name else ""
    return _make_sentence(" ".join(words) + owner)


def _make_sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?", ":")) else ".")


def _describe_parameter(parameter: Parameter) -> str:
    words = " ".join(split_name(parameter.name)) or parameter.name
    extras = [words] if words != parameter.name else []
    if parameter.star:
        extras.append("any further arguments" if parameter.star == "*" else "any further keyword arguments")
    if parameter.default is not None:
        extras.append(f"{shorten(parameter.default, _MOST)} by default")
    kind = f" ({shorten(parameter.annotation, _MOST)})" if parameter.annotation else ""
    return f"{parameter.star}{parameter.name}{kind}: {', '.join(extras)}".removesuffix(": ")


def _describe_output(facts: FunctionFacts) -> Iterator[str]:
    """Yield the type of the returned value and its expressions, each once."""
    if not (facts.yields or facts.may_return):
        return
    kind = f"{shorten(facts.annotation, _MOST)}: " if facts.annotation else ""
    expressions = [shorten(" ".join(each.split()), _MOST) for each in dict.fromkeys(facts.returned)][:3]
    text = " or ".join(expressions)
    if kind or text:
        yield (kind + text).removesuffix(": ")
    else:
        yield "each value" if facts.yields else "a value"


def _describe_error(name: str, message: str | None) -> str:
    return f"{name}: {' '.join(message.split())}" if message and message.strip() else name
