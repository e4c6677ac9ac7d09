"""Scores of Langfuse, by its own client of the public API.

Its `create_score` queues scores and drops what is refused with a line in a log, so the API is called in batches, and
each reply is looked at. A score is replaced where its id, its name and its day are the same: ids follow from the
record's hash, and the time is the end of the run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from importlib.metadata import version
from typing import Any

from benchbook.ask.providers.access import checked_base_url
from benchbook.integrations.trackers.evaluation_events import known
from benchbook.integrations.trackers.evaluation_run import EvaluationRun
from benchbook.integrations.trackers.kinds import TRACKERS, refused
from benchbook.integrations.trackers.results import RecordResults, SampleResult
from benchbook.integrations.trackers.sending import run_facts
from benchbook.text import plural, shorten

_CLOUD = "https://cloud.langfuse.com"
_MOST_SCORES, _MOST_BYTES = 100, 700_000  # of one request, whose body may have 1 MiB
_LONGEST_TEXT = 20_000  # characters of a prompt or an answer: a score is small


def opened(endpoint: str | None, *, texts: bool) -> LangfuseTracker:
    """A tracker at an address, with the keys that the environment has. Raises: ImportError; ConfigError."""
    del texts
    from langfuse.api.client import LangfuseAPI

    public, private = (os.environ[name].strip() for name in TRACKERS["langfuse"].needed)
    given = endpoint or os.environ.get("LANGFUSE_BASE_URL") or os.environ.get("LANGFUSE_HOST") or _CLOUD
    address = checked_base_url(given, "endpoint" if endpoint else "LANGFUSE_BASE_URL")
    client = LangfuseAPI(
        base_url=address,
        username=public,
        password=private,
        x_langfuse_sdk_name="benchbook",
        x_langfuse_sdk_version=version("benchbook"),
        x_langfuse_public_key=public,
        follow_redirects=False,  # the keys go to the address that was given
    )
    return LangfuseTracker(client, address)


class LangfuseTracker:
    """Sends scores through a client of the public API (`langfuse.api.client.LangfuseAPI`)."""

    def __init__(self, client: Any, where: str) -> None:
        self._client = client
        self._where = where

    def send(self, results: RecordResults, samples: Iterable[SampleResult]) -> str:
        run = results.run

        def scores() -> Iterator[dict[str, Any]]:
            for sample in samples:
                yield from sample_scores(run, sample)
            yield from run_scores(run)

        n_scores = 0
        for batch in _batches(scores()):
            self._create(batch)
            n_scores += len(batch)
        return f"{plural(n_scores, 'score')} at {self._where}, session {run.run_id}"

    def _create(self, batch: list[dict[str, Any]]) -> None:
        """Raises: TrackerError where not all scores were accepted."""
        try:
            found = self._client.scores.create(request=batch)
        except Exception as error:  # httpx's errors, and those of the API, which have no common ancestor
            raise refused("langfuse", f"{self._where}: {_said(error)}") from None
        if getattr(found, "rejected", 0):
            first = found.errors[0].message if found.errors else "no reason was given"
            raise refused(
                "langfuse", f"{self._where} rejected {found.rejected} of {plural(len(batch), 'score')}: {first}"
            )


def _said(error: Exception) -> str:
    status, body = getattr(error, "status_code", None), getattr(error, "body", None)
    return str(error) or type(error).__name__ if status is None else f"status {status}: {shorten(str(body), 200)}"


def _batches(scores: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    n_bytes = 0
    for score in scores:
        size = len(json.dumps(score))
        if batch and (len(batch) == _MOST_SCORES or n_bytes + size > _MOST_BYTES):
            yield batch
            batch, n_bytes = [], 0
        batch.append(score)
        n_bytes += size
    if batch:
        yield batch


# ── scores as plain data, by the API's own names ─────────────────────────────────────────────────────────────────


def sample_scores(run: EvaluationRun, sample: SampleResult) -> Iterator[dict[str, Any]]:
    """A number for each score of a sample, and whether it passed, or the verdict. For one without a score a word alone,
    `<evaluator>.unscored`: the class of what went wrong.

    They stand at the trace that the prediction's row names, or at one of their own id.
    """
    place = {"traceId": sample.trace_id or run.uid(sample.sample), "observationId": sample.span_id}
    facts = known(run_facts(run) | _item_facts(sample))
    said = None if sample.texts is None else sample.texts.explanation
    comment = said or ", ".join(sample.reasons) or None
    if not sample.scores:
        yield _score(run, "unscored", sample.error, "CATEGORICAL", (sample.sample,), place, facts, comment)
        return
    for nth, one in enumerate(sample.scores):
        more = facts | _texts(sample) if nth == 0 else facts
        yield _score(run, one.name, one.value, "NUMERIC", (sample.sample,), place, more, comment if nth == 0 else None)
    if sample.label in ("pass", "fail"):
        passed = int(sample.label == "pass")
        yield _score(run, "passed", passed, "BOOLEAN", (sample.sample,), place, facts, None)
    elif sample.label is not None:
        yield _score(run, "verdict", sample.label, "CATEGORICAL", (sample.sample,), place, facts, None)


def run_scores(run: EvaluationRun) -> Iterator[dict[str, Any]]:
    """The aggregates that an interval or a gate stands on, and the decision: of the session that has the run's id."""
    place, facts = {"sessionId": run.run_id}, run_facts(run) | dict(run.settings)
    for one in run.aggregates:
        if one.is_shown:
            bounds = (
                {} if one.interval is None else {"interval": _plain(one.interval, "low", "high", "confidence", "n")}
            )
            gate = {} if one.gate is None else {"gate": _plain(one.gate, "direction", "limit", "holds")}
            yield _score(run, one.name, one.value, "NUMERIC", ("run",), place, facts | bounds | gate, None)
    if run.decision is not None:
        why = "; ".join(run.reasons) or None
        yield _score(run, "decision", run.decision, "CATEGORICAL", ("run",), place, facts, why)


def _score(
    run: EvaluationRun,
    name: str,
    value: float | str | None,
    kind: str,
    of: tuple[object, ...],
    place: Mapping[str, str | None],
    facts: dict[str, Any],
    comment: str | None,
) -> dict[str, Any]:
    at = datetime.fromisoformat(run.ended_at).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = {
        "id": run.uid(*of, name),
        "name": f"{run.evaluator}.{name}",
        "value": value,
        "dataType": kind,
        "timestamp": at,
        "comment": comment,
        "metadata": facts,
    }
    return known({**body, **place})


def _item_facts(sample: SampleResult) -> dict[str, Any]:
    return {
        **sample.groups,
        "item_id": sample.item_id,
        "sample": sample.sample,
        "repeat": sample.repeat,
        "model": sample.model,
        "model_reported": sample.model_reported,
        "judges": ", ".join(sample.judges) or None,
        "error": sample.error,
        "input_tokens": sample.input_tokens,
        "output_tokens": sample.output_tokens,
        "latency_ms": sample.latency_ms,
        "cost_usd": sample.cost_usd,
        "n_dissenting": sample.n_dissenting,
    }


def _texts(sample: SampleResult) -> dict[str, str]:
    if sample.texts is None:
        return {}
    texts = sample.texts._asdict() | {"explanation": None}  # that is the comment
    return {name: text[:_LONGEST_TEXT] for name, text in texts.items() if text is not None}


def _plain(found: Any, *names: str) -> dict[str, Any]:
    return known({name: getattr(found, name) for name in names})
