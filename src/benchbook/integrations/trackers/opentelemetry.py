"""Events `gen_ai.evaluation.result`, sent over OTLP by OpenTelemetry's own SDK.

The SDK's batches lose what a collector refuses, and say so in a log at most: here every export is looked at, and one
that fails ends the sending.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from benchbook.ask.providers.access import checked_base_url
from benchbook.errors import UsageError
from benchbook.integrations.trackers.evaluation_events import EVENT, EvaluationEvent, run_events, sample_events
from benchbook.integrations.trackers.kinds import refused
from benchbook.integrations.trackers.results import RecordResults, SampleResult
from benchbook.text import plural, shorten

_DEFAULT, _PATH = "http://localhost:4318", "/v1/logs"
_MOST_EVENTS, _MOST_CHARACTERS = 256, 2 << 20  # of one request: collectors take up to 4 MiB or more


def opened(endpoint: str | None, *, texts: bool) -> OpenTelemetryTracker:
    """A tracker that exports to a collector: `endpoint`, or as OTEL_EXPORTER_OTLP_* say. Its headers are read there.

    Raises: ImportError; UsageError for an address that is none.
    """
    del texts  # they come along, or don't, with the samples
    import requests
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

    address, session, replies = _address(endpoint), requests.Session(), _Replies()
    session.hooks["response"].append(replies)
    return OpenTelemetryTracker(OTLPLogExporter(endpoint=address, session=session), address, replies)


class OpenTelemetryTracker:
    """Sends through a log exporter of OpenTelemetry's SDK, which it shuts down at the end. `where` is told afterwards.

    Raises: ImportError.
    """

    def __init__(self, exporter: Any, where: str = "the exporter", replies: _Replies | None = None) -> None:
        from opentelemetry.sdk import _logs

        self._logs = _logs
        self._exporter = exporter
        self._where = where
        self._replies = replies

    def send(self, results: RecordResults, samples: Iterable[SampleResult]) -> str:
        run = results.run

        def events() -> Iterator[EvaluationEvent]:
            for sample in samples:
                yield from sample_events(run, sample)
            yield from run_events(run)

        with _last_said() as said:
            n_events = self._export_all(events(), said)
        return f"{plural(n_events, 'event')} {EVENT} at {self._where}"

    def _export_all(self, events: Iterator[EvaluationEvent], said: list[str]) -> int:
        from opentelemetry.sdk.resources import Resource

        kept = _Kept()
        provider = self._logs.LoggerProvider(resource=Resource.create(_resource()), shutdown_on_exit=False)
        provider.add_log_record_processor(kept)  # type: ignore[arg-type, unused-ignore]
        logger = provider.get_logger("benchbook", version("benchbook"))
        n_events = n_characters = 0
        try:
            for event in events:
                logger.emit(_log_record(event))
                n_events += 1
                n_characters += sum(len(one) for one in event.attributes.values() if isinstance(one, str))
                if len(kept.records) >= _MOST_EVENTS or n_characters >= _MOST_CHARACTERS:
                    self._export(kept, said)
                    n_characters = 0
            self._export(kept, said)
        finally:
            self._exporter.shutdown()
        if kept.n_kept != n_events:
            raise UsageError("OpenTelemetry's SDK is switched off (OTEL_SDK_DISABLED): nothing was sent")
        return n_events

    def _export(self, kept: _Kept, said: list[str]) -> None:
        """Raises: TrackerError where not all of it was taken."""
        from opentelemetry.sdk._logs.export import LogRecordExportResult

        records, kept.records = kept.records, []
        try:
            if not records or self._exporter.export(records) is LogRecordExportResult.SUCCESS:
                return
            raised = "the export failed"
        except Exception as error:  # some versions let through what goes wrong in a session, others tell of it
            raised = str(error)
        told = None if self._replies is None else self._replies.refused
        raise refused("otel", f"{self._where}: {told or ', '.join(dict.fromkeys([*said[:1], *said[-1:]])) or raised}")


class _Kept:
    """A processor of log records that keeps them until they are exported."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self.n_kept = 0

    def on_emit(self, log_record: Any) -> None:
        from opentelemetry.sdk._logs import ReadableLogRecord

        self.n_kept += 1
        self.records.append(
            ReadableLogRecord(
                log_record=log_record.log_record,
                resource=log_record.resource,
                instrumentation_scope=log_record.instrumentation_scope,
                limits=log_record.limits,
            )
        )

    def shutdown(self) -> None:
        """Nothing is open here: the exporter is the tracker's."""

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        del timeout_millis
        return True


def _log_record(event: EvaluationEvent) -> Any:
    from opentelemetry._logs import LogRecord, SeverityNumber
    from opentelemetry.context import Context
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    context = Context()  # of no span: the one that sends evaluates nothing
    if event.trace_id is not None:
        span_id = int(event.span_id, 16) if event.span_id else 0
        found = SpanContext(int(event.trace_id, 16), span_id, is_remote=True, trace_flags=TraceFlags(1))
        context = set_span_in_context(NonRecordingSpan(found), context)
    return LogRecord(
        timestamp=event.time_ns,
        context=context,
        severity_number=SeverityNumber.INFO,
        event_name=EVENT,
        body="",  # a body that is None can't be encoded by every version
        attributes=event.attributes,
    )


def _resource() -> dict[str, str]:
    """Who sends, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say it."""
    said = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return {} if said else {"service.name": "benchbook", "service.version": version("benchbook")}


def _address(endpoint: str | None) -> str:
    whole = None if endpoint else os.environ.get("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")
    if whole:
        return checked_base_url(whole, "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")
    base = endpoint or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _DEFAULT
    setting = "endpoint" if endpoint else "OTEL_EXPORTER_OTLP_ENDPOINT"
    return checked_base_url(base, setting).removesuffix(_PATH) + _PATH


class _Replies:
    """The collector's replies: how it refused, in words. The exporter says no more than the status, and once a while.

    Raises an error where it took a part alone and says so in its reply, which the exporter does not read.
    """

    def __init__(self) -> None:
        self.refused: str | None = None

    def __call__(self, response: Any, *args: Any, **kwargs: Any) -> None:
        del args, kwargs
        if not response.ok:
            self.refused = f"status {response.status_code}: {shorten(response.text, 200) or response.reason}"
        elif "protobuf" in response.headers.get("content-type", ""):
            from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

            found = ExportLogsServiceResponse.FromString(response.content).partial_success
            if found.rejected_log_records:
                why = shorten(found.error_message, 200)
                self.refused = f"{found.rejected_log_records} events were rejected: {why}"
                raise ValueError(self.refused)


@contextmanager
def _last_said() -> Iterator[list[str]]:
    """The warnings of OpenTelemetry's own log while the block runs, which are said once, in an error, or not at all."""
    said: list[str] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    logger, keeping = logging.getLogger("opentelemetry"), Keeping(logging.WARNING)
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(keeping)
    try:
        yield said
    finally:
        logger.removeHandler(keeping)
        logger.propagate = propagated
