"""Tell what went wrong as problem+json (RFC 9457): what was seen, what was expected and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pkg import errors
from pkg.quoting.hidden_characters import escape_json

if TYPE_CHECKING:
    from starlette.responses import Response

PROBLEM_TYPE = "application/problem+json"
SayDefect = Callable[[str, Exception], None]
"""Hears in which operation something went wrong that nobody foresaw."""
RETRY_SECONDS = 2  # after which what is busy now is mostly free

_STATUSES: Mapping[type[errors.PkgError], HTTPStatus] = {
    errors.UsageError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.InputError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.QueryError: HTTPStatus.NOT_FOUND,
    errors.NodeNotFoundError: HTTPStatus.NOT_FOUND,
    errors.StoreMissingError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreLockedError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreChangedError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.EncoderBusyError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.EncoderError: HTTPStatus.BAD_GATEWAY,
    errors.ModelBusyError: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ModelUnfitError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ContextLengthError: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.ModelError: HTTPStatus.BAD_GATEWAY,
    errors.SandboxError: HTTPStatus.NOT_IMPLEMENTED,
    errors.MissingExtraError: HTTPStatus.NOT_IMPLEMENTED,
}
"""By the nearest class of an error; any other is a fault of this program or of what was installed."""


@dataclass(eq=False)
class Problem(Exception):  # noqa: N818  the word of the standard
    """Something that is answered with a status and a reason."""

    status: HTTPStatus
    detail: str
    kind: str = "Request"
    """The class of the error that PKG raised, as pkg.errors draws them, or Request where the request is refused."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Give it as the members that the standard names, and the kind."""
        return {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": int(self.status),
            "detail": self.detail,
            "kind": self.kind,
        }

    def to_response(self) -> Response:
        """Make the answer."""
        from starlette.responses import Response

        content = escape_json(json.dumps(self.to_json(), ensure_ascii=False)).encode()
        return Response(content, self.status, dict(self.headers), PROBLEM_TYPE)


def describe_fault(fault: errors.PkgError) -> Problem:
    """Make the problem of an error that PKG raised."""
    nearest = next((each for each in type(fault).__mro__ if each in _STATUSES), None)
    status = HTTPStatus.INTERNAL_SERVER_ERROR if nearest is None else _STATUSES[nearest]
    headers = {"retry-after": str(RETRY_SECONDS)} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Problem(status, str(fault), type(fault).__name__, headers)


def describe_defect() -> Problem:
    """Make the problem of what nobody foresaw: a caller is told no more than that."""
    detail = "a fault of this program; what it was stands where the program was started"
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, detail, "Defect")
