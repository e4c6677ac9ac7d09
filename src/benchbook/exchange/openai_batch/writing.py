"""Writes a log's samples as the requests of an OpenAI batch, to be asked again: by the vendor, or by vLLM.

A target named `*.jsonl` is one file; any other is a folder, of as many files as the vendor's limits ask for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from benchbook.ask.model_id import parse_model_id
from benchbook.ask.providers.openai_wire import chat_body
from benchbook.canonical import canonical_json
from benchbook.errors import ConfigError, UsageError
from benchbook.exchange.batches.ids import BatchIds
from benchbook.exchange.log import ForeignLog, LogSample, Lost
from benchbook.text import plural, quoted
from benchbook.writing import folder_made_whole, written_new, written_whole

MOST_REQUESTS = 50_000  # in one file, as the vendor allows
MOST_BYTES = 200 * 10**6
_URL = "/v1/chat/completions"


class _Seen:
    """The parts of samples beside their requests, counted."""

    def __init__(self) -> None:
        self.n_answers = self.n_scores = self.n_references = 0

    def see(self, sample: LogSample) -> None:
        self.n_answers += sample.answer is not None
        self.n_scores += len(sample.scores)
        self.n_references += bool(sample.references)

    def lost(self) -> Iterator[Lost]:
        counts = {"answers": self.n_answers, "scores": self.n_scores, "right answers": self.n_references}
        for name, n in counts.items():
            if n:
                yield Lost(what=f"requests have no place for {name}", n=n)


def written(log: ForeignLog, target: Path) -> list[Lost]:
    """Write one request for each sample, a sample's repeats as requests of their own.

    Raises: UsageError where the log names no model, or a prompt is not known; where `target` is there; and where one
    file would be over the vendor's limits. RecordError where it can't be written.
    """
    seen = _Seen()
    try:
        if target.suffix == ".jsonl":
            with written_new(target) as file:
                n = _fill(file, _requests(log, seen))
                if n is not None:
                    raise UsageError(
                        f"{target}: {_limits()} is the vendor's limit for one file, and these need more; "
                        f"name a folder, such as {target.with_suffix('')}, for several"
                    )
        else:
            _write_folder(target, _requests(log, seen))
    except FileExistsError:
        raise UsageError(f"{target}: is there already; name a new file or folder") from None
    return list(seen.lost())


def _write_folder(target: Path, requests: Iterator[bytes]) -> None:
    if target.exists():
        raise FileExistsError
    with folder_made_whole(target) as folder:
        first: bytes | None = None
        for number in range(1, 10**6):
            with written_whole(folder / f"requests-{number:03}.jsonl") as file:
                first = _fill(file, requests, first)
            if first is None:
                break


def _fill(file: BinaryIO, requests: Iterator[bytes], first: bytes | None = None) -> bytes | None:
    """Write requests until a limit. The one that did not fit; None if all did."""
    n, n_bytes = 0, 0
    while (line := first if first is not None else next(requests, None)) is not None:
        if n == MOST_REQUESTS or n_bytes + len(line) > MOST_BYTES:
            return line
        file.write(line)
        n, n_bytes, first = n + 1, n_bytes + len(line), None
    return None


def _limits() -> str:
    return f"{plural(MOST_REQUESTS, 'request')} or {MOST_BYTES // 10**6} MB"


def _requests(log: ForeignLog, seen: _Seen) -> Iterator[bytes]:
    """The lines. Ids are those of the samples; of repeats after the first, with their number behind them."""
    if log.header.model is None:
        raise UsageError("the log names no single model, and each request must name the one that is asked")
    model, params = _sent_name(log.header.model), log.header.generation_params
    ids = BatchIds()
    try:
        for number, sample in enumerate(log.samples()):
            seen.see(sample)
            if not sample.prompt and not sample.messages:
                raise UsageError(f"{sample.where or sample.id}: its prompt is not known, and can't be asked again")
            id_ = f"{sample.id}#{sample.repeat + 1}" if sample.repeat else sample.id
            if ids.file_of(id_) is not None:
                found = f"{sample.where or f'sample {number + 1}'}: {quoted(id_)} is the id of two requests"
                raise UsageError(f"{found}; a batch tells its results apart by their ids")
            ids.hold(id_, 0, number, answered=False)
            asked = sample.messages if sample.messages is not None else sample.prompt
            head = canonical_json({"custom_id": id_, "method": "POST", "url": _URL})
            yield head[:-1] + b',"body":' + chat_body(model, asked, params) + b"}\n"
    finally:
        ids.close()


def _sent_name(model: str) -> str:
    """The name that requests have for a model: of Benchbook's id, without who provides it and the version."""
    try:
        return parse_model_id(model, "model").name if "@" in model or model.startswith("openai/") else model
    except ConfigError:
        return model
