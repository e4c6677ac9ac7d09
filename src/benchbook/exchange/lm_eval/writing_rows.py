"""A sample as the harness's rows: one for each filter that scored it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from benchbook.exchange.lm_eval.ours import OfScoreInDocument
from benchbook.exchange.lm_eval.rows import OF_EVERY_ROW
from benchbook.exchange.log import LogHeader, LogSample, LogScore
from benchbook.text import all_storable

WEIGHED = ("multiple_choice", "loglikelihood", "loglikelihood_rolling")
_WHOLE_NUMBER = re.compile(r"0|[1-9]\d{0,14}")
_PAIR = re.compile(r"[\w.@+-]+,[\w.-]+")
_NO_NAME = re.compile(r'[",\\\x00-\x1f]+')
_IN_ROW = frozenset(("doc", "target", "responses", "log_likelihoods"))  # of a sample's metadata
# What a row has no place for, and its document takes, where the log came from another tool.
_IN_DOCUMENT = (
    "context", "choices", "category", "group", "limit", "finish_reason", "model_reported", "input_tokens",
    "output_tokens", "latency_ms", "messages",
)  # fmt: skip


class MetricName(msgspec.Struct, frozen=True):
    """The metric and the filter that a scorer is named by in the harness's files."""

    metric: str
    filter: str

    @property
    def key(self) -> str:
        return f"{self.metric},{self.filter}"

    @property
    def key_of_error(self) -> str:
        return f"{self.metric}_stderr,{self.filter}"


def metric_names(header: LogHeader, scorers: Iterable[str]) -> dict[str, MetricName]:
    """The name of each scorer: its own, where the log came from the harness, if by way of a record; else one that the
    harness's files can hold."""
    found: dict[str, MetricName] = {}
    taken: set[MetricName] = set()
    for scorer in scorers:
        is_pair = header.tool == "lm_eval" or _PAIR.fullmatch(scorer)
        metric, comma, filtered = scorer.partition(",") if is_pair else (scorer, "", "")
        metric = _NO_NAME.sub("_", metric) or "score"
        if header.tool != "lm_eval" and (metric in OF_EVERY_ROW or metric.endswith("_stderr")):
            metric = f"{metric}_score"
        one, number = MetricName(metric, filtered if comma else "none"), 2
        while one in taken:
            one, number = MetricName(f"{metric}_{number}", one.filter), number + 1
        taken.add(one)
        found[scorer] = one
    return found


def is_whole_number(text: str) -> bool:
    """True for an id as the harness has them: a document's number."""
    return _WHOLE_NUMBER.fullmatch(text) is not None


class RowWriter:
    """Makes rows of samples."""

    def __init__(self, header: LogHeader, names: Mapping[str, MetricName], *, ids_are_numbers: bool) -> None:
        self._params = dict(header.generation_params)
        self._names = names
        self._ids_are_numbers = ids_are_numbers
        stated = header.metadata.get("output_type") if header.tool == "lm_eval" else None
        self.output_type = stated if stated in WEIGHED else "generate_until"
        delimiter = header.metadata.get("target_delimiter")
        self.delimiter = delimiter if isinstance(delimiter, str) else " "

    def row(self, sample: LogSample, filtered_by: str) -> tuple[bytes, str]:
        """A sample's row of one filter, and its three hashes in one text."""
        scores = {
            self._names[scorer].metric: score
            for scorer, score in sample.scores.items()
            if self._names[scorer].filter == filtered_by
        }
        row = self._row(sample, filtered_by, scores)
        try:
            return _encoded(row)
        except UnicodeEncodeError:
            return _encoded(all_storable(row))

    def _row(self, sample: LogSample, filtered_by: str, scores: Mapping[str, LogScore]) -> dict[str, Any]:
        target = sample.metadata.get("target", self._target(sample))
        answered = next((one.answer for one in scores.values() if one.answer is not None), sample.answer)
        arguments, resps, filtered = self._requests(sample, answered, target)
        return {
            "doc_id": int(sample.id) if self._ids_are_numbers else sample.id,
            "doc": sample.metadata["doc"] if "doc" in sample.metadata else _document(sample),
            "target": target,
            "arguments": {f"gen_args_{number}": one for number, one in enumerate(arguments)},
            "resps": resps,
            "filtered_resps": filtered,
            "filter": filtered_by,
            "metrics": list(scores),
            **{metric: _value(score) for metric, score in scores.items()},
        }

    def _requests(
        self, sample: LogSample, answered: str | None, target: Any
    ) -> tuple[list[dict[str, Any]], list[Any], list[Any]]:
        """The requests, the answers to them, and those that the filter left."""
        if self.output_type == "generate_until":
            asked = [json.dumps(sample.messages, ensure_ascii=False)] if sample.messages else sample.prompt
            came = sample.metadata.get("responses") or ([] if sample.answer is None else [sample.answer])
            return [{"arg_0": asked, "arg_1": self._params}], [came], [] if answered is None else [answered]
        weighed = sample.metadata.get("log_likelihoods") or ["nan"] * (len(sample.choices) or 1)
        numbers = [str(one) for one in weighed]
        if self.output_type == "loglikelihood_rolling":
            return [{"arg_0": sample.prompt}], [numbers[:1]], numbers[:1]
        pairs = [[one, "False"] for one in numbers]
        texts = [self.delimiter + one for one in sample.choices] or [str(target)]
        return [{"arg_0": sample.prompt, "arg_1": one} for one in texts], [[one] for one in pairs], pairs

    def _target(self, sample: LogSample) -> str:
        """The right answers; of choices their numbers."""
        if self.output_type == "multiple_choice" and set(sample.references) <= set(sample.choices):
            places: Sequence[Any] = [sample.choices.index(one) for one in sample.references]
        else:
            places = sample.references
        return (
            "" if not places else str(places[0]) if len(places) == 1 else json.dumps(list(places), ensure_ascii=False)
        )


def _document(sample: LogSample) -> dict[str, Any]:
    """The row's document, of a log of another tool: all that the row itself has no place for."""
    found = {name: getattr(sample, name) for name in _IN_DOCUMENT}
    found["prompt"] = sample.prompt if sample.messages else None
    found["repeat"] = sample.repeat or None
    found["references"] = sample.references if len(sample.references) > 1 else None
    found["failure"] = msgspec.to_builtins(sample.failure) if sample.failure is not None else None
    found["scores"] = {
        name: said
        for name, one in sample.scores.items()
        if (
            said := {
                key: getattr(one, key) for key in OfScoreInDocument.__struct_fields__ if getattr(one, key) is not None
            }
        )
    }
    found["metadata"] = {name: one for name, one in sample.metadata.items() if name not in _IN_ROW}
    return {"id": sample.id, **{name: one for name, one in found.items() if one not in (None, (), [], {})}}


def _value(score: LogScore) -> Any:
    if score.value is not None:
        return score.value
    if score.parts is not None:
        return list(score.parts)
    if score.said is None:
        return None
    try:
        return msgspec.json.decode(score.said)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _encoded(row: dict[str, Any]) -> tuple[bytes, str]:
    """A row's line, with the hashes that the harness would give it. Raises: UnicodeEncodeError."""
    asked = row["arguments"]["gen_args_0"]["arg_0"]
    hashes = {
        "doc_hash": _hash(json.dumps(row["doc"], indent=2, ensure_ascii=False)),
        "prompt_hash": _hash(asked[0] if isinstance(asked, list) else asked),
        "target_hash": _hash(str(row["target"])),
    }
    head = {name: row[name] for name in OF_EVERY_ROW if name in row}
    line = json.dumps({**head, **hashes, **row}, ensure_ascii=False, default=str)
    return line.encode() + b"\n", "".join(hashes.values())


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
