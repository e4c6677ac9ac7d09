"""A record sent by OpenTelemetry's SDK, to its exporter in memory and to a server that decodes OTLP: RECORD."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from loopback import Asked, Said, loopback
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter

from benchbook.errors import BenchbookError
from benchbook.integrations.trackers.opentelemetry import OpenTelemetryTracker
from benchbook.integrations.trackers.sending import send
from benchbook.record.folder import Record

record = Record(Path(sys.argv[1]))
PROTOBUF = "application/x-protobuf"


def in_memory() -> list[dict[str, Any]]:
    exporter = InMemoryLogRecordExporter()
    send(record, OpenTelemetryTracker(exporter))
    return [
        {"name": one.log_record.event_name, "time": one.log_record.timestamp, "trace": one.log_record.trace_id,
         "span": one.log_record.span_id, "attributes": dict(one.log_record.attributes),
         "service": one.resource.attributes["service.name"], "scope": one.instrumentation_scope.name}
        for one in exporter.get_finished_logs()
    ]  # fmt: skip


def plain(value: Any) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind)
    return [plain(one) for one in found.values] if kind == "array_value" else found


def over_http() -> dict[str, Any]:
    asked: list[Asked] = []

    def answer(one: Asked) -> Said:
        asked.append(one)
        return 200, PROTOBUF, ExportLogsServiceResponse().SerializeToString()

    os.environ["OTEL_EXPORTER_OTLP_HEADERS"] = "x-tenant=seven"
    with loopback(answer) as address:
        where = send(record, "otel", endpoint=address).where
    found = []
    for one in asked:
        for resource in ExportLogsServiceRequest.FromString(one.body).resource_logs:
            for scope in resource.scope_logs:
                for log in scope.log_records:
                    attributes = {pair.key: plain(pair.value) for pair in log.attributes}
                    found.append({"name": log.event_name, "time": log.time_unix_nano, "attributes": attributes})
    tenants, paths = ({one.headers["x-tenant"] for one in asked}, {one.path for one in asked})
    return {"events": found, "where": where.replace(address, ""), "tenants": sorted(tenants), "paths": sorted(paths)}


def refused(answer: Any) -> str:
    os.environ["OTEL_EXPORTER_OTLP_TIMEOUT"] = "2"
    try:
        with loopback(answer) as address:
            return send(record, "otel", endpoint=address).where
    except BenchbookError as error:
        return str(error).replace(address, "")


def of_a_part() -> bytes:
    partial = ExportLogsServiceResponse()
    partial.partial_success.rejected_log_records = 3
    partial.partial_success.error_message = "they are too old"
    return partial.SerializeToString()


def switched_off() -> str:
    os.environ["OTEL_SDK_DISABLED"] = "true"
    try:
        return send(record, OpenTelemetryTracker(InMemoryLogRecordExporter())).where
    except BenchbookError as error:
        return str(error)


sys.stdout.write(json.dumps({
    "in_memory": in_memory(),
    "over_http": over_http(),
    "partial": refused(lambda one: (200, PROTOBUF, of_a_part())),
    "unauthorized": refused(lambda one: (401, "text/plain", b"who are you?")),
    "switched_off": switched_off(),
}))  # fmt: skip
