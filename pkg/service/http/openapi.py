"""Describe the service as OpenAPI 3.1, from the classes that validate requests and hold answers."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pkg import __version__
from pkg.service.graph_service import Answer
from pkg.service.http.http_options import EVENTS_TYPE, JSON_TYPE, NOTICE, list_methods, list_types
from pkg.service.http.problems import PROBLEM_TYPE
from pkg.service.http.service_metrics import METRICS_TYPE
from pkg.service.operations.catalogue import Operation

_REFERENCE = "#/components/schemas/{model}"
_PROBLEM = {
    "type": "object",
    "description": "The reason of a failure (RFC 9457).",
    "required": ["type", "title", "status", "detail", "kind"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was seen, what was expected and what to do."},
        "kind": {"type": "string", "description": "The class of the error in pkg.errors, or Request, or Defect."},
    },
}
_HEALTH = {
    "type": "object",
    "required": ["live", "ready"],
    "properties": {
        "live": {"type": "boolean"},
        "ready": {"type": "boolean", "description": "Whether there is a graph that can be opened."},
        "graph": {"type": "string", "description": "Identifies this generation of this graph."},
        "generation": {"type": "integer", "description": "Generation of the graph; each change makes a new one."},
        "note": {"type": "string", "description": "Caveats of all answers, such as files that were left out."},
    },
}
_EVENTS = (
    "Events: `notice`; `evidence`, one per piece; `text` with a piece of the answer as the model writes it; and last"
    " `answer` with the same object as in JSON, or `problem`."
)
_COMMON_PROBLEMS = (
    HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT,
    HTTPStatus.BAD_REQUEST,
)  # fmt: skip
_BODY_PROBLEMS = (
    HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)  # fmt: skip


def describe_service(operations: Mapping[str, Operation], needs_token: bool) -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    from pydantic import TypeAdapter

    schemas: dict[str, Any] = {"Problem": _PROBLEM, "Health": _HEALTH}
    schemas |= _split_schema("Answer", TypeAdapter(Answer).json_schema(ref_template=_REFERENCE))
    schemas["Answer"]["properties"]["notice"] = {"type": "string", "const": NOTICE}
    schemas["Freshness"]["properties"]["note"] = {"type": "string", "description": "The same, in words."}
    paths: dict[str, Any] = {
        "/health": _describe_health(),
        "/health/live": _describe_life(),
        "/metrics": _describe_metrics(needs_token),
    }
    for operation in operations.values():
        request = operation.adapter.json_schema(ref_template=_REFERENCE)
        schemas |= _split_schema(operation.request.__name__, request)
        paths[f"/v1/{operation.name}"] = {
            method.lower(): _describe_operation(operation, method, needs_token) for method in list_methods(operation)
        }
    secured = {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}} if needs_token else {}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "PKG",
            "version": __version__,
            "summary": "A graph of Python code that answers questions.",
            "description": f"In every answer, {NOTICE}.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": schemas, **secured},
        **({"security": [{"token": []}]} if needs_token else {}),
    }


def _split_schema(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without its definitions, and its definitions beside it, by name."""
    return {**schema.pop("$defs", {}), name: schema}


def _describe_operation(operation: Operation, method: str, needs_token: bool) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name if method == "POST" else f"{operation.name}_by_address",
        "summary": operation.summary,
        "responses": {
            "200": _describe_answer(operation),
            **_describe_problems(_COMMON_PROBLEMS + (_BODY_PROBLEMS if method == "POST" else ()), needs_token),
        },
    }
    if method == "POST":
        schema = {"$ref": _REFERENCE.format(model=operation.request.__name__)}
        required = bool(operation.schema.get("required"))
        described["requestBody"] = {"required": required, "content": {JSON_TYPE: {"schema": schema}}}
    else:
        described["parameters"] = _list_parameters(operation.schema)
    return described


def _list_parameters(schema: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List the arguments as query parameters; a nullable argument is one that may be left out."""
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "schema": _drop_null(each),
            **({"description": each["description"]} if "description" in each else {}),
        }
        for name, each in schema.get("properties", {}).items()
    ]


def _drop_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    kept = [each for each in schema.get("anyOf", []) if each.get("type") != "null"]
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "description", "title")}
    if rest.get("default", "") is None:
        del rest["default"]
    return {**rest, **(kept[0] if len(kept) == 1 else {"anyOf": kept} if kept else {})}


def _describe_answer(operation: Operation) -> dict[str, Any]:
    schemas: dict[str, Any] = {JSON_TYPE: {"$ref": _REFERENCE.format(model="Answer")}}
    content = {kind: {"schema": schemas.get(kind, {"type": "string"})} for kind in list_types(operation)}
    events = f" {_EVENTS}" if EVENTS_TYPE in content else ""
    description = f"The answer as one object, as the lines of the command, or as plain text.{events}"
    return {"description": description, "content": content}


def _describe_problems(statuses: tuple[HTTPStatus, ...], needs_token: bool) -> dict[str, Any]:
    content = {PROBLEM_TYPE: {"schema": {"$ref": _REFERENCE.format(model="Problem")}}}
    chosen = statuses + ((HTTPStatus.UNAUTHORIZED,) if needs_token else ())
    return {str(int(status)): {"description": status.phrase, "content": content} for status in sorted(chosen)}


def _describe_health() -> dict[str, Any]:
    content = {JSON_TYPE: {"schema": {"$ref": _REFERENCE.format(model="Health")}}}
    responses = {
        "200": {"description": "The graph can be searched.", "content": content},
        "503": {"description": "There is no graph, or it cannot be opened.", "content": content},
        **_describe_problems((HTTPStatus.FORBIDDEN,), False),
    }
    get = {"operationId": "health", "summary": "Check whether the service can answer.", "security": []}
    return {"get": {**get, "responses": responses}}


def _describe_life() -> dict[str, Any]:
    schema = {"type": "object", "required": ["live"], "properties": {"live": {"type": "boolean"}}}
    responses = {
        "200": {"description": "The service is running.", "content": {JSON_TYPE: {"schema": schema}}},
        **_describe_problems((HTTPStatus.FORBIDDEN,), False),
    }
    get = {"operationId": "live", "summary": "Check whether the service is running.", "security": []}
    return {"get": {**get, "responses": responses}}


def _describe_metrics(needs_token: bool) -> dict[str, Any]:
    kind = METRICS_TYPE.partition(";")[0]
    responses = {
        "200": {
            "description": "Metrics in the text format of Prometheus.",
            "content": {kind: {"schema": {"type": "string"}}},
        },
        **_describe_problems((HTTPStatus.FORBIDDEN,), needs_token),
    }
    return {"get": {"operationId": "metrics", "summary": "Return the metrics.", "responses": responses}}
