"""Read the arguments of a request: a JSON object in the body, or the query of the URL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn

from pkg.service.http.answer_writing import JSON_TYPE
from pkg.service.http.http_options import HttpLimits
from pkg.service.http.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request

_CLOSE = {"connection": "close"}  # the rest of the body is not read


async def read_object(request: Request, limits: HttpLimits) -> dict[str, Any]:
    """Read a JSON object from the body; an empty body is an empty object.

    Raises Problem for anything else, and for a body that is too long or arrives too slowly.
    """
    try:
        content = await asyncio.wait_for(_read_body(request, limits.body_bytes), limits.body_seconds)
    except asyncio.TimeoutError:
        detail = f"the body did not arrive within {limits.body_seconds:g} seconds; send it again, at once"
        raise Problem(HTTPStatus.REQUEST_TIMEOUT, detail, headers=_CLOSE) from None
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != JSON_TYPE and (given or content):
        seen = f"content-type '{given[:80]}'" if given else "no content-type"
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"{seen}; expected {JSON_TYPE}")
    return parse_object(content or b"{}")


async def _read_body(request: Request, most: int) -> bytes:
    announced = request.headers.get("content-length", "")
    content = bytearray()
    if not (announced.isdecimal() and int(announced[:20]) > most):
        async for piece in request.stream():
            content += piece
            if len(content) > most:
                break
        else:
            return bytes(content)
    detail = f"the body is longer than {most:,} bytes; expected the arguments of one operation"
    raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, headers=_CLOSE)


def parse_object(content: bytes) -> dict[str, Any]:
    """Parse a JSON object; raises Problem for anything else."""
    try:
        found = json.loads(content, parse_float=_read_number, parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise Problem(HTTPStatus.BAD_REQUEST, "the body is not UTF-8; expected a JSON object") from None
    except json.JSONDecodeError as fault:
        place = f"line {fault.lineno}, column {fault.colno}"
        raise Problem(HTTPStatus.BAD_REQUEST, f"invalid JSON: {fault.msg} ({place}); expected an object") from None
    except (RecursionError, ValueError) as fault:
        reason = "nested too deeply" if isinstance(fault, RecursionError) else str(fault)[:80]
        raise Problem(HTTPStatus.BAD_REQUEST, f"unsupported JSON: {reason}; expected an object") from None
    if not isinstance(found, dict):
        raise Problem(HTTPStatus.BAD_REQUEST, f"the JSON value is a {type(found).__name__}; expected an object")
    return found


def _read_number(written: str) -> int | float:
    """Parse a number: JSON does not distinguish 3.0 from 3."""
    number = float(written)
    return int(number) if number.is_integer() else number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def read_query(request: Request, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments in the query of a URL, converted to the types of the schema; lists repeat their name.

    A value that cannot be converted stays a string, which the validation of the operation reports. Raises Problem for
    a repeated argument that is not a list.
    """
    query, properties = request.query_params, schema.get("properties", {})
    found = dict[str, Any]()
    for name in dict.fromkeys(query):
        kinds, values = _list_types(properties.get(name, {})), query.getlist(name)
        if "array" in kinds:
            found[name] = values
        elif len(values) > 1:
            detail = f"argument '{name}' is given {len(values)} times; expected it once"
            raise Problem(HTTPStatus.BAD_REQUEST, detail)
        else:
            found[name] = _read_value(values[0], kinds)
    return found


def _list_types(schema: Mapping[str, Any]) -> set[str]:
    choices = schema.get("anyOf", [schema])
    return {each.get("type", "") for each in choices}


def _read_value(value: str, kinds: set[str]) -> Any:
    if "boolean" in kinds and value in ("true", "false"):
        return value == "true"
    if "integer" in kinds and value.removeprefix("-").isascii() and value.removeprefix("-").isdecimal():
        return int(value[:20])
    return value
