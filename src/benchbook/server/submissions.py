"""Predictions that were made elsewhere, sent in chunks (SPEC A5), each under a key of the sender's.

A chunk is on the disk before its answer goes out, and fits the eval set. The same chunk under the same key again
changes nothing; another one under a key that is taken is refused. At the end all of them are scored into a record,
whole, which then verifies as one that `benchbook score` made of a file.
"""

from __future__ import annotations

import hashlib
import io
import re
from http import HTTPStatus
from pathlib import Path

import msgspec

from benchbook.ask.model_id import parse_model_id
from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import ConfigError, InputError
from benchbook.evalsets.opening import evalset_path
from benchbook.evaluators.registry import answers_evaluator, score_predictions
from benchbook.evaluators.settings import SCORE_SPEC, ScoreConfig, is_spec_folder
from benchbook.record.derived_files import sha256_of
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import SubmittedPrediction
from benchbook.server.runs import run_answer
from benchbook.server.services import Services
from benchbook.server.starting import evalset_file
from benchbook.server.submission_store import Submitted, taken
from benchbook.server.types import Appended, RunRow, Submission
from benchbook.text import quoted, shorten

_KEY = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_decoder = msgspec.json.Decoder(ready(SubmittedPrediction))


class _About(msgspec.Struct, frozen=True, kw_only=True):
    evalset: str
    evalset_sha256: str
    n_items: int
    model: str
    spec: str = SCORE_SPEC


def begin_submission(call: Request) -> Submission:
    """Say for which eval set, and of which model, predictions will come."""
    services, wanted = call.services, call.body
    parse_model_id(wanted.model, "model")
    evalset = evalset_file(services, wanted.evalset)
    if is_spec_folder(wanted.spec):
        raise ConfigError("spec", repr(shorten(wanted.spec, 80)), "an evaluator that is shipped, and no folder")
    if services.children.has(wanted.run_id):
        raise taken(wanted.run_id)
    from benchbook.evalsets.predictions import items_frame

    with answers_evaluator(wanted.spec).opened(evalset_path(evalset)) as opened:
        sha256, n_items, items = opened.sha256, len(opened), io.BytesIO()
        items_frame(opened).select("item_id", "expected").write_parquet(items)
    about = _About(evalset=evalset, evalset_sha256=sha256, n_items=n_items, model=wanted.model, spec=wanted.spec)
    files = {"items.parquet": items.getvalue(), "about.json": canonical_json(about)}
    services.submissions.begin(wanted.run_id, files)
    call.headers["location"] = f"/api/v1/runs/{wanted.run_id}/predictions/chunks"
    return Submission(run_id=wanted.run_id, evalset_sha256=sha256, n_items=n_items, chunks=(), n_predictions=0)


def get_submission(call: Request) -> Submission:
    with call.services.submissions.sending(call.path["run_id"]) as submitted:
        return _shown(submitted)


def put_chunk(call: Request) -> Appended:
    """Keep a chunk: JSON lines, each with `item_id` and `predicted`, of items of the eval set."""
    key, data = call.path["key"], bytes(call.body)
    if not _KEY.fullmatch(key):
        raise _unfit("key: expected letters, digits, '.', '_' and '-', at most 100")
    n_rows = _check_lines(data)
    with call.services.submissions.sending(call.path["run_id"]) as submitted:
        added = submitted.add(key, data, lambda path: _check_items(path, submitted))
    digest = hashlib.sha256(data).hexdigest()
    return Appended(run_id=submitted.run_id, key=key, added=n_rows if added else 0, sha256=digest)


def drop_chunk(call: Request) -> Submission:
    """Take one chunk back; another may come under its key."""
    with call.services.submissions.sending(call.path["run_id"]) as submitted:
        submitted.take_back(call.path["key"])
        return _shown(submitted)


def finish_submission(call: Request) -> RunRow:
    """Score what came, all of it or nothing, into a record. No chunk is taken from here on.

    Where that went wrong, chunks may be taken back and sent, and it may be asked again; also where nobody knows.
    """
    services = call.services
    with services.submissions.ending(call.path["run_id"]) as submitted:
        with submitted.together() as (predictions, digest):
            if not services.submissions.is_recorded(submitted, digest):
                _score(services, submitted, predictions)
        services.watcher.look_at(submitted.run_id)
        answer = run_answer(services, services.run(submitted.run_id).row)
        services.submissions.remove(submitted)
    return answer


def drop_submission(call: Request) -> Submission:
    """Forget the chunks that came: no record is made of them."""
    with call.services.submissions.ending(call.path["run_id"]) as submitted:
        shown = _shown(submitted)
        call.services.submissions.remove(submitted)
    return shown


# ── what is right of it ──────────────────────────────────────────────────────────────────────────────────────


def _check_lines(data: bytes) -> int:
    """The number of predictions in a chunk. Raises: ProblemError naming the line."""
    n_rows = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            decode_json(line, _decoder, as_storable=True)  # a name may hold half a character, too
        except msgspec.DecodeError as error:
            raise _unfit(f"line {number}: {shorten(str(error), 200)}") from None
        n_rows += 1
    if not n_rows:
        raise _unfit("a chunk without a prediction")
    return n_rows


def _check_items(path: Path, submitted: Submitted) -> None:
    """Hold a chunk against the eval set as the end will. Raises: ProblemError naming line and field."""
    import polars as pl

    from benchbook.evalsets.predictions import prediction_faults, read_predictions

    if not submitted.items.exists():  # begun by a version before this one
        return
    try:
        found = read_predictions(path, form="jsonl", own_keys=True)
        faults = prediction_faults(found, pl.read_parquet(submitted.items))
    except InputError as error:
        faults = [error]
    if faults:
        more = f"; and {len(faults) - 1:,} more faults" if len(faults) > 1 else ""
        raise _unfit(f"line {faults[0].line}: {_without_place(faults[0])}{more}")


def _score(services: Services, submitted: Submitted, predictions: Path) -> None:
    about, run_id = _about(submitted), submitted.run_id
    if (services.settings.runs / run_id).exists():
        raise taken(run_id)
    if sha256_of(evalset_path(about.evalset)) != about.evalset_sha256:
        raise ProblemError(HTTPStatus.CONFLICT, "the eval set is another one than when this began; begin anew")
    config = ScoreConfig(
        evalset=about.evalset,
        spec=about.spec,
        predictions=str(predictions),
        model=about.model,
        runs=str(services.settings.runs),
        run_id=run_id,
    )
    try:
        score_predictions(config)
    except InputError as error:
        if error.path != str(predictions):
            raise
        raise _unfit(_repeated(submitted) or _without_place(error)) from None


def _repeated(submitted: Submitted) -> str | None:
    """The first item that is in two chunks, in words; each chunk alone was right when it came."""
    seen: dict[str, str] = {}
    for key, chunk in submitted.chunks().items():
        for number, line in enumerate(chunk.read_bytes().split(b"\n"), start=1):
            if not line.strip():
                continue
            item_id = decode_json(line, _decoder).item_id
            if item_id in seen:
                what = f"chunk {key!r}, line {number}: item_id: {quoted(item_id)} is in chunk {seen[item_id]!r} already"
                return f"{what}; take one of the two back, by DELETE, and finish again"
            seen[item_id] = key
    return None


def _without_place(error: InputError) -> str:
    return str(error).removeprefix(f"{error.path}:{error.line}: ").removeprefix(f"{error.path}: ")


def _unfit(detail: str) -> ProblemError:
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


def _shown(submitted: Submitted) -> Submission:
    about, chunks = _about(submitted), submitted.chunks()
    return Submission(
        run_id=submitted.run_id,
        evalset_sha256=about.evalset_sha256,
        n_items=about.n_items,
        chunks=tuple(chunks),
        n_predictions=sum(map(_n_predictions, chunks.values())),
    )


def _n_predictions(chunk: Path) -> int:
    return sum(bool(line.strip()) for line in chunk.read_bytes().split(b"\n"))


def _about(submitted: Submitted) -> _About:
    return msgspec.json.decode(submitted.about.read_bytes(), type=ready(_About))
