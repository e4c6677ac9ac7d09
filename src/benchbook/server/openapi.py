"""The document of the API (OpenAPI 3.1), generated from the operations and their types."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import msgspec
from sqlalchemy import func, select

from benchbook.catalog.database import runs
from benchbook.server.cookies import SESSION, ended_cookies, session_cookies, session_name
from benchbook.server.examples import answer_examples, body_example, parameter_example
from benchbook.server.operations import JSON, Bytes, Operation, Request
from benchbook.server.problems import PROBLEM_MEDIA, ProblemError
from benchbook.server.runs import indexing_of
from benchbook.server.types import Indexing, Live, LoginAnswer, Problem, Ready, WhoAmI

_BYTES = {"type": "string", "format": "binary"}
_REF = "#/components/schemas/{name}"
_CITED = re.compile(r"\s\((?:SPEC )?[A-Z]\d+[\w.]*(?:, [A-Z]\d+[\w.]*)*\)")  # clauses, for who reads the code


def openapi_document(operations: Sequence[Operation]) -> dict[str, Any]:
    """The whole document, as JSON values."""
    asked = [one.query for one in operations] + [one.body for one in operations if isinstance(one.body, type)]
    kinds = list(dict.fromkeys([Problem, *asked, *(kind for one in operations for kind in one.answers)]))
    found, schemas = msgspec.json.schema_components(kinds, ref_template=_REF)
    for schema in schemas.values():
        if "description" in schema:
            schema["description"] = _CITED.sub("", schema["description"])
        schema["properties"] = {field: _constant(one) for field, one in schema["properties"].items()}
    schema_of = dict(zip(kinds, found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schema_of, schemas)
    used = _used(paths, schemas)
    asked_for = _used([schema_of[kind] for kind in asked], schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Benchbook",
            "version": version("benchbook"),
            "description": "Records of evaluations, and what follows from them.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {name: schemas[name] if name in asked_for else _whole(schemas[name]) for name in sorted(used)},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "`benchbook token create`"},
                "session": {"type": "apiKey", "in": "cookie", "name": SESSION},
            },
        },
    }


def _constant(schema: dict[str, Any]) -> dict[str, Any]:
    """A truth value that is always the same, as generators of clients know it: of an enum of one they know texts."""
    match schema:
        case {"enum": [bool(value)]}:
            return {"type": "boolean", "const": value}
    return schema


def _whole(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of an answer: a field with a default is always written, and only one that may be `msgspec.UNSET` can
    be missing."""
    there = [name for name, one in schema["properties"].items() if "default" in one]
    bare = {
        name: {word: value for word, value in one.items() if word != "default"}
        for name, one in schema["properties"].items()
    }
    required = [name for name in schema["properties"] if name in schema["required"] or name in there]
    return schema | {"properties": bare, "required": required}


def _operation(operation: Operation, schema_of: dict[Any, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _path_schema(name)}
        for name in re.findall(r"\{(\w+)\}", operation.path)
    ]
    parameters += _query_parameters(schemas[operation.query.__name__])
    if operation.if_match:
        described = {"schema": {"type": "string", "maxLength": 1_000}, "description": "the etag of what was seen"}
        parameters.append({"name": "If-Match", "in": "header", "required": False, **described})
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.tag],
        "parameters": [one | parameter_example(operation.name, one["name"]) for one in parameters],
        "responses": _responses(operation, schema_of),
        "security": [] if operation.scope is None else [{"token": []}, {"session": []}, {}],
        "x-scope": operation.scope,
    }
    if isinstance(operation.body, type):
        found["requestBody"] = _body(JSON, schema_of[operation.body], operation)
    elif operation.body is not None:
        found["requestBody"] = _body(operation.body, _BYTES, operation)
    return found


def _body(media: str, schema: dict[str, Any], operation: Operation) -> dict[str, Any]:
    return {"required": True, "content": {media: {"schema": schema, **body_example(operation.name)}}}


def _path_schema(name: str) -> dict[str, Any]:
    if name in ("sample", "position"):
        return {"type": "integer", "minimum": 0, "maximum": 1_000_000_000}
    return {"type": "string", "minLength": 1}


def _query_parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    required = schema.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(one)}
        | ({"style": "form", "explode": True} if one.get("type") == "array" else {})
        for name, one in schema["properties"].items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter that may be left out, and is never null: a query has no null."""
    parts = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    if len(parts) != 1:
        return schema
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    return {**parts[0], **rest}


def _responses(operation: Operation, schema_of: dict[Any, Any]) -> dict[str, Any]:
    problem = {PROBLEM_MEDIA: {"schema": schema_of[Problem]}}
    found: dict[str, Any] = {
        str(operation.status): {"description": "What was asked for.", "content": _content(operation, schema_of)}
    }
    writes = operation.writes
    if operation.is_file:
        found["206"] = found["200"] | {"description": "The bytes that the header Range names, one range."}
    if not writes:
        found["304"] = {"description": "It is still what If-None-Match names."}
    return found | {
        "4XX": {"description": "What was asked for can't be answered; `detail` says why.", "content": problem},
        "503": {"description": "Too much at once, or the catalog or a file can't be reached.", "content": problem},
        **({"507": {"description": "The disk is full; nothing was changed.", "content": problem}} if writes else {}),
    }


def _content(operation: Operation, schema_of: dict[Any, Any]) -> dict[str, Any]:
    examples = answer_examples(operation.name)
    if not operation.answers:
        text = {"type": "string"} if operation.media.startswith("text/") else _BYTES
        return {operation.media: {"schema": {} if operation.media == JSON else text, **examples}}
    found = [schema_of[kind] for kind in operation.answers]
    return {operation.media: {"schema": found[0] if len(found) == 1 else {"anyOf": found}, **examples}}


def _used(value: Any, schemas: dict[str, Any]) -> set[str]:
    """The names of the schemas that a value refers to, directly or through other schemas."""
    names: set[str] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            name = str(one.get("$ref", "")).rpartition("/")[2]
            if name in schemas and name not in names:
                names.add(name)
                waiting.append(schemas[name])
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return names


_LOOKED_AT_LEAST_EVERY_S = 60.0


def get_me(call: Request) -> WhoAmI:
    principal = call.principal
    needed = call.services.access.needs_token and principal.via == "nobody"
    return WhoAmI(name=principal.name, scopes=principal.scopes, login_needed=needed, via=principal.via)


def login(call: Request) -> LoginAnswer:
    """Set two cookies: one that no script can read, and one that the page repeats in a header with each write."""
    headers, below = call.request_headers, call.below
    principal, session, csrf = call.services.access.login(call.body.token, session_name(headers, below))
    call.principal = principal
    call.cookies += session_cookies(session, csrf, headers, below)
    return LoginAnswer(name=principal.name, scopes=principal.scopes)


def logout(call: Request) -> WhoAmI:
    call.services.access.logout(call.request_headers)
    call.cookies += ended_cookies(call.request_headers, call.below)
    return WhoAmI(name="nobody", scopes=(), login_needed=call.services.access.needs_token, via="nobody")


def listen(call: Request) -> Any:
    return call.services.events.listen(call.principal)


def get_health(call: Request) -> Live:
    del call
    return Live()


def get_readiness(call: Request) -> Ready:
    """It asks the last look, which read both, and so waits for nothing.

    Raises: ProblemError (503) where the catalog or the folder could not be read, or nobody looked lately.
    """
    watcher = call.services.watcher
    if watcher.first_look is not None and watcher.error is None:
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, f"indexing: {watcher.first_look}", {"retry-after": "1"})
    since = None if watcher.last_look is None else time.monotonic() - watcher.last_look
    longest = max(_LOOKED_AT_LEAST_EVERY_S, 10 * call.services.settings.look_s)
    if since is None or watcher.error is not None or since > longest:
        raise ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, "the folder of records was not looked through lately")
    return Ready(last_look_s=round(since, 3))


def get_indexing(call: Request) -> Indexing:
    return indexing_of(call.services) or Indexing(done=None, total=None, words=None)


def get_metrics(call: Request) -> Bytes:
    services = call.services
    gauges = {f'benchbook_runs{{state="{state}"}}': n for state, n in sorted(_count_by_state(call).items())}
    lines = ["# HELP benchbook_runs Runs in the catalog by state.", "# TYPE benchbook_runs gauge"]
    lines += [f"{name} {n}" for name, n in gauges.items()]
    lines += ["# HELP benchbook_connections_ended_total Connections that the server ended, by reason."]
    lines += ["# TYPE benchbook_connections_ended_total counter"]
    connections = services.connections
    lines += [f'benchbook_connections_ended_total{{why="{why}"}} {n}' for why, n in sorted(connections.ended.items())]
    own = {
        "benchbook_connections": ("Connections that are open.", float(len(connections))),
        "benchbook_listeners": ("Clients that listen to events.", float(services.events.n_listeners)),
        "benchbook_kept_bytes": ("Memory of what was computed and is kept.", float(services.kept.n_bytes)),
        "benchbook_started_runs": ("Runs that were started here and go on.", float(services.children.n_running)),
    }
    return Bytes((services.measures.text(own) + "\n".join(lines) + "\n").encode())


def _count_by_state(call: Request) -> dict[str, int]:
    with call.services.catalog.read() as connection:
        rows = connection.execute(select(runs.c.state, func.count()).group_by(runs.c.state)).all()
    return {str(state): int(n) for state, n in rows}
