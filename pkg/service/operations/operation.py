"""What an operation is: a request with checked fields, and a function that answers it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pkg.errors import UsageError, shorten
from pkg.model import Stale

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

    from pkg.service.desk import Desk

LONGEST_VALUE = 80  # characters of a wrong value that its error shows


@dataclass(frozen=True, slots=True)
class Reply:
    """What an operation found."""

    lines: tuple[Mapping[str, Any], ...]
    """What the command of the same name writes with --json."""
    text: str
    """The same for a reader of text, within the budget of the request."""
    stale: tuple[Stale, ...] = ()  # files of it that are not what the graph was built from any more
    left_out: tuple[str, ...] = ()  # what the budget had no room for, and how to get it


@dataclass(frozen=True)
class Operation:
    """One thing that can be asked."""

    name: str
    summary: str
    """One sentence in the imperative."""
    request: type
    """A frozen dataclass; its fields with their defaults, bounds and descriptions are the arguments."""
    answer: Callable[[Desk, Any], Reply]
    is_writing: bool = False  # whether it changes the graph: refused unless the service allows it
    is_running: bool = False  # whether it runs code that the request brings, in the sandbox, and reads no graph

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """What checks arguments, and describes them."""
        from pydantic import TypeAdapter

        return TypeAdapter(self.request)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema (2020-12) of the arguments."""
        return self.adapter.json_schema()

    def read_request(self, arguments: Mapping[str, Any]) -> Any:
        """Make the request of arguments; a UsageError names each that is missing, unknown or of a wrong type.

        A number or a truth that is written as text is taken for what it says.
        """
        return self._read(lambda: self.adapter.validate_python(dict(arguments)))

    def check_strictly(self, arguments: Mapping[str, Any]) -> None:
        """Raise the UsageError of read_request for a value of another type than the schema names, too."""
        self._read(lambda: self.adapter.validate_json(json.dumps(arguments), strict=True))

    def _read(self, validate: Callable[[], Any]) -> Any:
        from pydantic import ValidationError

        try:
            return validate()
        except ValidationError as fault:
            known = ", ".join(self.schema.get("properties", {})) or "none"
            faults = "; ".join(_list_faults(fault.errors(include_url=False, include_context=False)))
            raise UsageError(f"{self.name}: {faults}; its arguments are: {known}") from fault


def _list_faults(faults: Iterable[ErrorDetails]) -> Iterator[str]:
    """Say one fault of each argument: a union tells one for each of its kinds."""
    said = set[str]()
    for each in faults:
        name = str(each["loc"][0]) if each["loc"] else "arguments"
        if name in said:
            continue
        said.add(name)
        if each["type"] == "missing":
            yield f"'{name}' is missing"
        elif each["type"] == "unexpected_keyword_argument":
            yield f"'{name}' is unknown"
        else:
            yield f"'{name}': {each['msg'].lower()}, seen {shorten(repr(each['input']), LONGEST_VALUE)}"
