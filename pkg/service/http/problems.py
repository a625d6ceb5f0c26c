"""Report failures as problem+json (RFC 9457): what was seen, what was expected and what to do."""

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
ReportDefect = Callable[[str, Exception], None]
"""Receives the name of an operation and the unexpected exception that it raised."""
RETRY_SECONDS = 2  # after which a busy service mostly has a free slot

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
"""The nearest class in the MRO of an error decides; an error without one is an internal error."""


@dataclass(eq=False)
class Problem(Exception):  # noqa: N818  the word of the standard
    """A failure that is answered with a status and a reason."""

    status: HTTPStatus
    detail: str
    kind: str = "Request"
    """The class of pkg.errors that was raised, Request for a refused request, or Defect."""
    headers: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the members that RFC 9457 names, and the kind."""
        return {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": int(self.status),
            "detail": self.detail,
            "kind": self.kind,
        }

    def to_response(self) -> Response:
        """Return the HTTP response."""
        from starlette.responses import Response

        content = escape_json(json.dumps(self.to_json(), ensure_ascii=False)).encode()
        return Response(content, self.status, dict(self.headers), PROBLEM_TYPE)


def describe_fault(fault: errors.PkgError) -> Problem:
    """Return the problem of an error of pkg.errors."""
    nearest = next((each for each in type(fault).__mro__ if each in _STATUSES), None)
    status = HTTPStatus.INTERNAL_SERVER_ERROR if nearest is None else _STATUSES[nearest]
    headers = {"retry-after": str(RETRY_SECONDS)} if status is HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Problem(status, str(fault), type(fault).__name__, headers)


def describe_defect() -> Problem:
    """Return the problem of an unexpected exception, without its text: that may quote files."""
    detail = "internal error; the terminal in which the service was started shows it"
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, detail, "Defect")
