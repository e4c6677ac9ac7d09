"""Every place where bytes from outside become values of ours, each with what it may say no with."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import own_protocol
from benchbook.ask.model_id import parse_model_id, read_name
from benchbook.ask.providers.calls import CallFailed
from benchbook.ask.providers.error_body import read_error_body, refused_parameter, told_detail
from benchbook.ask.providers.http_connection import Connection, HttpError
from benchbook.ask.providers.openai import ChatStream
from benchbook.ask.providers.openai_wire import read_completion
from benchbook.errors import BenchbookError
from benchbook.evalsets.extraction import extract_file
from benchbook.evalsets.opening import open_evalset
from benchbook.evalsets.output_set_sources import find_in_table
from benchbook.evalsets.output_sets import read_outputs
from benchbook.evalsets.predictions import read_predictions
from benchbook.evalsets.validate import validate
from benchbook.evaluators.candidate import read_template
from benchbook.evaluators.checks.reading import read_spec_files
from benchbook.evaluators.correctness.tables import score_table
from benchbook.evaluators.protocol.folders import read_protocol
from benchbook.evaluators.protocol.import_bundles import read_bundle
from benchbook.evaluators.protocol.import_mapping import OutputIndex, load_mapping
from benchbook.evaluators.protocol.importing import read_reply_table
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.registry import evaluator_asked_for
from benchbook.evaluators.rubric.reading import read_rubric
from benchbook.evaluators.settings import config_from_mapping, read_config_file
from benchbook.evaluators.verify import verify
from benchbook.exchange.every_eval_ever import reading as every_eval_ever
from benchbook.exchange.helm import reading as helm
from benchbook.exchange.log import ForeignLog, LogSample
from benchbook.exchange.pairs.reading import PairsForm, read_pairs
from benchbook.exchange.tools import seen_at, tool_named
from benchbook.labels.pairs.ranking import rank_by_pairs
from benchbook.labels.position import position_trials, read_pair_verdicts
from benchbook.record.folder import Record
from benchbook.record.joined_state import read_state
from benchbook.training.logs import find_training_logs, read_training_metrics
from exchange.bad_logs import LOGS, audit_file
from running import benchbook_here
from support import ROOT
from talked import PROMPT, SPEC

CORPUS = ROOT / "tests" / "corpus"
GOLDEN = ROOT / "tests" / "golden" / "records"
MAPPING = ROOT / "docs" / "examples" / "judgements" / "prompt-drift-lab.toml"


@dataclass(frozen=True)
class Parser:
    """Reads bytes, given a folder of its own; raises nothing but what it `says_no` with."""

    read: Callable[[bytes, Path], Any]
    says_no: tuple[type[Exception], ...] = (BenchbookError,)
    examples: int = 40  # in every run of the tests; a fifth of it where each starts a command


def text_of(data: bytes) -> str:
    """Any text, lone surrogates too, as JSON may bring it."""
    return data.decode("utf-8", "surrogateescape")


def written(data: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


# ── replies ──────────────────────────────────────────────────────────────────────────────────────────────────


def _reply(spec: str, more: Mapping[str, Any], data: bytes, folder: Path) -> None:
    evaluator = evaluator_asked_for(_talked(folder) if spec == "talked" else spec)
    evaluator.parse_line({"id": "x", "reply": text_of(data), "options": {"reasoning_tags": ["think"]}, **more})


def _talked(folder: Path) -> str:
    """A rubric that uses everything, in a folder beside."""
    made = folder.parent / "talked@v1"
    if not made.exists():
        made.mkdir()
        (made / "spec.toml").write_text(SPEC, encoding="utf-8")
        (made / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    return str(made)


_ITEM = {"id": "gift", "prompt": "Do you wrap gifts?", "criteria": [{"text": "Offers to ask.", "weight": 0.5}]}


def _lines_to_parse(spec: str, data: bytes, folder: Path) -> None:
    said_well(benchbook_here("parse", spec, str(written(data, folder, "replies.jsonl"))))


def said_well(found: Any) -> None:
    assert found.returncode in (0, 1, 2, 3), found
    assert b"Traceback" not in found.stderr, found.stderr.decode()


def _completion(data: bytes, folder: Path) -> None:
    read_completion(data, {}, 5, b'{"model": "m"}')


def _stream(data: bytes, folder: Path) -> None:
    stream = ChatStream(b'{"model": "m"}')
    for number, line in enumerate(data.split(b"\n")):
        stream.feed(line, number)
    stream.answer({}, 5)


def _error_body(data: bytes, folder: Path) -> None:
    told = read_error_body(data)
    told_detail(told, 400)
    refused_parameter(told, b'{"model": "m", "temperature": 1}')


class _Wire(asyncio.Transport):
    """Where requests are written to by nobody."""

    def write(self, data: Any) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...
    def is_closing(self) -> bool:
        return False


def _http(data: bytes, folder: Path) -> None:
    async def exchanged() -> None:
        connection = Connection()
        connection.connection_made(_Wire())
        asked = asyncio.ensure_future(connection.exchange(b"x", 1 << 16, None))
        await asyncio.sleep(0)
        for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
            connection.data_received(piece)
        connection.eof_received()
        connection.connection_lost(None)
        await asked

    asyncio.run(exchanged())


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────


def _evalset(name: str, data: bytes, folder: Path) -> None:
    path = written(data, folder, name)
    faults = list(validate(path))
    try:
        with closing(open_evalset(path)) as opened:
            for item in opened:
                assert item.prompt is not None or item.messages
    except BenchbookError:
        assert faults, "what can't be opened has no fault"
        raise


def _predictions(name: str, data: bytes, folder: Path) -> None:
    read_predictions(written(data, folder, name), own_keys=True)


def _columns(data: bytes, folder: Path) -> None:
    """A whole set at once, and no record: `score --table`."""
    predictions = folder / "columns.jsonl"
    predictions.write_text('{"item_id": "a", "predicted": "2"}\n', encoding="utf-8")
    score_table(str(written(data, folder, "columns.parquet")), str(predictions), folder / "scored.parquet")


def _training_log(name: str, data: bytes, folder: Path) -> None:
    path = written(data, folder, name)
    for log, file in find_training_logs([str(path)]):
        list(read_training_metrics(file, log.form, log.columns))


def _extracted(name: str, data: bytes, folder: Path) -> None:
    extract_file(written(data, folder, name))


def _template(data: bytes, folder: Path) -> None:
    read_template(written(data, folder, "prompt.toml"), conversations=True)
    read_template(written(data, folder, "prompt.txt"))


def _config(data: bytes, folder: Path) -> None:
    config_from_mapping(read_config_file(written(data, folder, "config.toml")), "config.toml")


def _output_table(name: str, data: bytes, folder: Path) -> None:
    find_in_table(written(data, folder, name))


def _output_set(data: bytes, folder: Path) -> None:
    read_outputs(written(data, folder, "outputs.jsonl"), lambda sha256: folder / "texts" / sha256)


def _judgements(name: str, data: bytes, folder: Path) -> None:
    list(read_reply_table(written(data, folder, name), OutputIndex([])))


def _mapping(data: bytes, folder: Path) -> None:
    load_mapping(written(data, folder, "mapping.toml"), protocol_v1())


def _bundle(data: bytes, folder: Path) -> None:
    path = written(data, folder, "judge_a_bundle_b.json")
    list(read_bundle(path, load_mapping(MAPPING, protocol_v1()), protocol_v1(), OutputIndex([])))


def _pairs(name: str, data: bytes, folder: Path) -> None:
    position_trials(read_pair_verdicts(written(data, folder, name)))


def _rank_pairs(form: PairsForm, name: str, data: bytes, folder: Path) -> None:
    rank_by_pairs(read_pairs([written(data, folder, name)], form=form))


def _model_id(data: bytes, folder: Path) -> None:
    read_name(text_of(data))
    parse_model_id(text_of(data), "model")


# ── specs of a user's own ────────────────────────────────────────────────────────────────────────────────────


def _spec(read: Callable[[Mapping[str, bytes]], Any], data: bytes, folder: Path) -> None:
    texts = {name: text.encode() for name, text in own_protocol.TEXTS.items()}
    read({"prompt.txt": PROMPT.encode(), "any.json": b"{}", **texts, "spec.toml": data})


def _schema(data: bytes, folder: Path) -> None:
    spec = b'name = "a"\nversion = 1\nabout = "b"\n[[checks]]\nname = "c"\nkind = "json"\nschema = "any.json"\n'
    read_spec_files({"spec.toml": spec, "any.json": data})


# ── records ──────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def _made(name: str, below: Path) -> Path:
    """A record of `tests/golden`, once for all."""
    folder = below / name
    for part in ("journal", "inputs"):
        shutil.copytree(GOLDEN / name / part, folder / part)
    if name != "labels":
        said_well(benchbook_here("rescore", str(folder), "--reports", "none"))
    return folder


def _journal(name: str, data: bytes, folder: Path) -> None:
    (folder / "journal").mkdir(exist_ok=True)
    for path in (folder / "journal").iterdir():
        path.unlink()
    written(data, folder / "journal", name)
    try:
        read_state(folder / "journal")
    except BenchbookError:
        assert verify(Record(folder)).findings
        raise


def _derived(name: str, data: bytes, folder: Path) -> None:
    """One derived file of a whole record; `show`, `compare` and `verify` read it."""
    record = _made("score_b", folder.parent)
    before = (record / name).read_bytes()
    try:
        written(data, record, name)
        for words in (
            ("show", str(record), "--json"),
            ("compare", str(record), str(_made("score_a", folder.parent)), "--json"),
            ("show", str(record), "--sample", "0"),
        ):
            said_well(benchbook_here(*words))
        assert data == before or verify(Record(record)).findings
    finally:
        (record / name).write_bytes(before)


def _sheet(data: bytes, folder: Path) -> None:
    book = folder / "book"
    shutil.copytree(_made("labels", folder.parent), book)
    try:
        said_well(benchbook_here("label", "import", str(book), str(written(data, folder, "sheet.csv"))))
        said_well(benchbook_here("label", "status", str(book)))
    finally:
        shutil.rmtree(book)


# ── other tools' logs ────────────────────────────────────────────────────────────────────────────────────────

# A result of each vendor's, of the request that a test brings.
_RESULTS = {
    "openai": b'{"custom_id": "a", "response": {"status_code": 200, "body": {"choices": []}}}',
    "anthropic": b'{"custom_id": "a", "result": {"type": "expired"}}',
    "gemini": b'{"key": "a", "error": {"message": "no"}}',
}


def _batch(vendor: str, data: bytes, folder: Path) -> None:
    """A batch's results; `recognises` says something of anything."""
    path = written(data, folder, "results.jsonl")
    reading = tool_named(f"{vendor}_batch").reading
    reading.recognises(seen_at(path))
    _samples_of(reading.opened(path))


def _batch_requests(vendor: str, data: bytes, folder: Path) -> None:
    """The requests of a batch, named, and found beside its results."""
    path, results = written(data, folder, "requests.jsonl"), written(_RESULTS[vendor], folder, "of_these.jsonl")
    reading: Any = tool_named(f"{vendor}_batch").reading
    try:
        _samples_of(reading.opened(results))
        _samples_of(reading.opened(results, requests=path))
    finally:
        path.unlink()
        results.unlink()


def _samples_of(logs: Sequence[ForeignLog]) -> None:
    for log in logs:
        with log:
            found = list(log.samples())
            assert all(
                isinstance(one.answer, str | None) and (one.failure is None) >= bool(one.answer) for one in found
            )
            assert [one.id for one in log.samples(whole=False)] == [one.id for one in found]


def _every_eval_ever(data: bytes, folder: Path) -> None:
    """Rows alone, or an aggregate beside rows that it may name."""
    path = written(data, folder, "a.json")
    if not (folder / "a_samples.jsonl").exists():
        shutil.copyfile(CORPUS / "every_eval_ever" / "rows.jsonl", folder / "a_samples.jsonl")
    _read_through(every_eval_ever.opened(path))


def _helm(name: str, data: bytes, folder: Path) -> None:
    """One file of a run whose others are whole."""
    for other in ("run_spec", "scenario_state", "per_instance_stats", "stats"):
        shutil.copyfile(CORPUS / f"helm_{other}" / f"{other}.json", folder / f"{other}.json")
    written(data, folder, f"{name}.json")
    _read_through(helm.opened(folder))


def _read_through(logs: Sequence[ForeignLog]) -> None:
    try:
        for log in logs:
            assert all(isinstance(one, LogSample) for one in log.samples())
    finally:
        for log in logs:
            log.close()


_PROVIDER = (CallFailed,)
PARSERS: Mapping[str, Parser] = {
    "rubric_reply": Parser(partial(_reply, "rubric@v1", {})),
    "own_rubric_reply": Parser(partial(_reply, "talked", {"answer": "We do, dear Ann.", "item": _ITEM})),
    "protocol_reply": Parser(
        partial(_reply, "judge_protocol@v1", {"output_text": "The shop opens at nine.\n\nIt closes at six."})
    ),
    "rubric_lines": Parser(partial(_lines_to_parse, "rubric@v1")),
    "protocol_lines": Parser(partial(_lines_to_parse, "judge_protocol@v1")),
    "completion": Parser(_completion, _PROVIDER),
    "stream": Parser(_stream, _PROVIDER),
    "error_body": Parser(_error_body),
    "http_reply": Parser(_http, (HttpError,)),
    **{name: Parser(partial(audit_file, *of)) for name, of in LOGS.items()},
    **{f"{vendor}_batch": Parser(partial(_batch, vendor)) for vendor in _RESULTS},
    **{f"{vendor}_batch_requests": Parser(partial(_batch_requests, vendor)) for vendor in _RESULTS},
    "evalset.jsonl": Parser(partial(_evalset, "items.jsonl")),
    "evalset.json": Parser(partial(_evalset, "items.json")),
    "evalset.csv": Parser(partial(_evalset, "items.csv")),
    "evalset.tsv": Parser(partial(_evalset, "items.tsv")),
    "evalset.parquet": Parser(partial(_evalset, "items.parquet")),
    "predictions.jsonl": Parser(partial(_predictions, "predictions.jsonl")),
    "predictions.csv": Parser(partial(_predictions, "predictions.csv")),
    "predictions.parquet": Parser(partial(_predictions, "predictions.parquet")),
    "training.jsonl": Parser(partial(_training_log, "log.jsonl")),
    "training.csv": Parser(partial(_training_log, "log.csv")),
    "trainer_state": Parser(partial(_training_log, "trainer_state.json")),
    "event_file": Parser(partial(_training_log, "events.out.tfevents.1.x")),
    "output.json": Parser(partial(_extracted, "a.json")),
    "output.md": Parser(partial(_extracted, "a.md")),
    "template": Parser(_template),
    "config": Parser(_config),
    "model_id": Parser(_model_id),
    "output_table": Parser(partial(_output_table, "outputs.jsonl")),
    "output_set": Parser(_output_set),
    "every_eval_ever": Parser(_every_eval_ever),
    "helm_run_spec": Parser(partial(_helm, "run_spec")),
    "helm_scenario_state": Parser(partial(_helm, "scenario_state")),
    "helm_per_instance_stats": Parser(partial(_helm, "per_instance_stats")),
    "helm_stats": Parser(partial(_helm, "stats")),
    "judgements": Parser(partial(_judgements, "judgements.jsonl")),
    "mapping": Parser(_mapping),
    "bundle": Parser(_bundle),
    "pairs": Parser(partial(_pairs, "pairs.jsonl")),
    "pairs_of_models": Parser(partial(_rank_pairs, "table", "pairs.jsonl")),
    "pairs_alpaca_eval": Parser(partial(_rank_pairs, "alpaca_eval", "annotations.json")),
    "pairs_arena_hard": Parser(partial(_rank_pairs, "arena_hard", "m.jsonl")),
    "rubric_spec": Parser(partial(_spec, read_rubric)),
    "protocol_spec": Parser(partial(_spec, read_protocol)),
    "checks_spec": Parser(partial(_spec, read_spec_files)),
    "schema": Parser(_schema),
    "journal": Parser(partial(_journal, "000001.jsonl")),
    "sealed_journal": Parser(partial(_journal, "000001.jsonl.zst")),
    "manifest": Parser(partial(_derived, "manifest.json"), examples=4),
    "aggregates": Parser(partial(_derived, "aggregates.json"), examples=4),
    "decision": Parser(partial(_derived, "decision.json"), examples=4),
    "samples": Parser(partial(_derived, "samples.parquet"), examples=4),
    "columns.parquet": Parser(_columns),
    "sheet": Parser(_sheet, examples=8),
}
"""By the name of their folder in `tests/corpus`."""
