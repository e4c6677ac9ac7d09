"""Predictions that were made elsewhere, sent in chunks (SPEC A5): append-only, each under a key of the sender's.

A chunk is on the disk before its answer goes out. The same chunk under the same key again changes nothing; another one
under a key that is taken is refused. At the end all of them are scored into a record, whole, which then verifies as one
that `benchbook score` made of a file.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from http import HTTPStatus
from pathlib import Path

import msgspec

from benchbook.ask.model_id import parse_model_id
from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import ConfigError
from benchbook.evalsets.opening import evalset_path
from benchbook.evaluators.registry import answers_evaluator, score_predictions
from benchbook.evaluators.settings import SCORE_SPEC, ScoreConfig, is_spec_folder
from benchbook.server.operations import Request
from benchbook.server.problems import ProblemError
from benchbook.server.questions import SubmittedPrediction
from benchbook.server.runs import run_answer
from benchbook.server.starting import evalset_file
from benchbook.server.types import Appended, RunRow, Submission
from benchbook.text import shorten
from benchbook.writing import write_file

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
    with answers_evaluator(wanted.spec).opened(evalset_path(evalset)) as opened:
        sha256, n_items = opened.sha256, len(opened)
    about = _About(evalset=evalset, evalset_sha256=sha256, n_items=n_items, model=wanted.model, spec=wanted.spec)
    path = services.submissions.new_folder(wanted.run_id)
    if path.exists() or (services.settings.runs / wanted.run_id).exists():
        raise ProblemError(HTTPStatus.CONFLICT, f"there is a run {wanted.run_id!r} already")
    (path / "chunks").mkdir(parents=True)
    write_file(path / "about.json", canonical_json(about))
    call.headers["location"] = f"/api/v1/runs/{wanted.run_id}/predictions/chunks"
    return _shown(path)


def get_submission(call: Request) -> Submission:
    return _shown(call.services.submissions.folder(call.path["run_id"]))


def put_chunk(call: Request) -> Appended:
    """Keep a chunk: JSON lines, each with `item_id` and `predicted`."""
    path, key, data = call.services.submissions.folder(call.path["run_id"]), call.path["key"], bytes(call.body)
    if not _KEY.fullmatch(key):
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY, "key: expected letters, digits, '.', '_' and '-', at most 100"
        )
    n_rows = _check_lines(data)
    chunk, digest = path / "chunks" / f"{key}.jsonl", hashlib.sha256(data).hexdigest()
    added = _link_new(chunk, data)
    if not added and hashlib.sha256(chunk.read_bytes()).hexdigest() != digest:
        raise ProblemError(
            HTTPStatus.CONFLICT, f"another chunk is there under the key {key!r}; chunks are never changed"
        )
    return Appended(run_id=path.name, key=key, added=n_rows if added else 0, sha256=digest)


def finish_submission(call: Request) -> RunRow:
    """Score what came, all of it or nothing, into a record."""
    services = call.services
    with services.submissions.lock:
        path = services.submissions.folder(call.path["run_id"])
        about = _about(path)
        predictions = path / "predictions.jsonl"
        with predictions.open("wb") as file:
            for chunk in _chunks(path):
                file.write(chunk.read_bytes().rstrip(b"\n") + b"\n")
        score_predictions(
            ScoreConfig(
                evalset=about.evalset,
                spec=about.spec,
                predictions=str(predictions),
                model=about.model,
                runs=str(services.settings.runs),
                run_id=path.name,
            )
        )
        shutil.rmtree(path)
    services.watcher.look()
    return run_answer(services, services.run(path.name).row)


def drop_submission(call: Request) -> Submission:
    """Forget the chunks that came: no record is made of them."""
    with call.services.submissions.lock:
        path = call.services.submissions.folder(call.path["run_id"])
        shown = _shown(path)
        shutil.rmtree(path)
    return shown


def _link_new(path: Path, data: bytes) -> bool:
    """Write a whole file, unless it is there. True if it was not; of two senders at once, one wins."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{id(data)}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    return True


def _check_lines(data: bytes) -> int:
    """The number of predictions in a chunk. Raises: ProblemError naming the line."""
    n_rows = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            decode_json(line, _decoder, as_storable=True)  # a name may hold half a character, too
        except msgspec.DecodeError as error:
            what = f"line {number}: {shorten(str(error), 200)}"
            raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, what) from None
        n_rows += 1
    if not n_rows:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "a chunk without a prediction")
    return n_rows


def _shown(path: Path) -> Submission:
    about, chunks = _about(path), _chunks(path)
    return Submission(
        run_id=path.name,
        evalset_sha256=about.evalset_sha256,
        n_items=about.n_items,
        chunks=tuple(chunk.name.removesuffix(".jsonl") for chunk in chunks),
        n_predictions=sum(sum(bool(line.strip()) for line in chunk.read_bytes().split(b"\n")) for chunk in chunks),
    )


def _about(path: Path) -> _About:
    return msgspec.json.decode((path / "about.json").read_bytes(), type=ready(_About))


def _chunks(path: Path) -> list[Path]:
    return sorted((path / "chunks").glob("[!.]*.jsonl"))
