"""`kill -9` at random moments: facts are kept, nobody is asked twice, and the end is that of an undisturbed run.

Runs are killed at or just after one of their server's replies. Commands that ask nobody are killed at one of the
function calls of Benchbook's own code: each as likely as any other.
"""

from __future__ import annotations

import asyncio
import csv
import hashlib
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ask.test_outages import told_by
from attack.forking import THREADS, Child, Forking, forking
from attack.tally import Tally
from benchbook.canonical import canonical_json
from benchbook.errors import BenchbookError
from benchbook.evaluators.verify import verify
from benchbook.record.facts import Reply
from benchbook.record.folder import Record
from benchbook.record.reading import read_journal, read_segment, segment_files
from benchbook.writing import folder_made_whole
from crashing import leftovers
from evaluators.protocol.test_judgement_record import judgement
from judging import make_set
from labelled import judged_run
from outages import well
from running import benchbook_here, write_items
from scored import ITEMS, PREDICTIONS, write_lines
from scripted_server import Reply as Answer
from scripted_server import ScriptedServer, running
from tried import WAYS

pytestmark = [pytest.mark.attack, pytest.mark.skipif(not THREADS.exists(), reason=f"threads are counted in {THREADS}")]

KILLS = 160  # of each way to ask, shared by so many records as it takes
N_ITEMS = 12
QUIET_KILLS = 60  # of each command that asks nobody
SMALL_SEGMENT = 3_000  # bytes: a journal of several, so that some kills fall into the sealing of one


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forking]:
    with forking(tmp_path_factory.mktemp("forking")) as made:
        yield made


Replies = Callable[[str, int, dict[str, Any]], Answer]


# ── those that ask ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Asking:
    """A command that asks: how it begins, and how it goes on after a kill."""

    begin: Callable[[Path, ScriptedServer], list[str]]
    again: Callable[[list[str], Path], list[str]]
    replies: Replies = well


_FEW = ["--max-connections", "3", "--quiet"]


def _grid(folder: Path, server: ScriptedServer) -> list[str]:
    write_items(folder / "items.jsonl", 4)
    values = {"evalset": "items.jsonl", "judge": "openai/j@1", "experiment": "tried", "model_base_url": server.base_url,
              "judge_base_url": server.base_url, "runs": "runs", "reports": "none", "max_connections": 3}  # fmt: skip
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (folder / "grid.toml").write_text(
        "\n".join([*lines, "[grid]", 'model = ["openai/a@1", "openai/b@1"]', ""]), "utf-8"
    )
    return ["grid", "grid.toml", "--quiet"]


def _each_its_own(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    """Answers that name their model: the judge is asked nothing twice."""
    reply = well(role, n, request)
    return reply if role == "judge" else reply | {"content": f"{request['model']}: {reply['content']}"}


def _way(name: str) -> Asking:
    way = WAYS[name]

    def again(words: list[str], folder: Path) -> list[str]:
        if not (folder / "runs" / "run").exists():
            return words
        return [*way.command, "--resume", str(folder / "runs" / "run"), "--reports", "none", *_FEW]

    return Asking(lambda folder, server: [*way.command, *way.options(folder, server, N_ITEMS), *_FEW], again)


ASKING: Mapping[str, Asking] = {
    "run": _way("run-model"),
    "run by a panel": _way("panel"),
    "score, a model asked": _way("score"),
    "judge run": _way("judge-run"),
    "grid": Asking(_grid, lambda words, folder: words, _each_its_own),
}


@dataclass
class Killer:
    """A healthy server that kills who asks it at one of its replies, or within five milliseconds of it."""

    rng: random.Random
    replies: Replies
    asked: list[str] = field(default_factory=list)  # the hash of each request, by when it came
    child: Child | None = None
    left: int = -1  # replies until the kill

    def aim(self, child: Child | None) -> None:
        self.child = child

    def answer(self, role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(hashlib.sha256(canonical_json(request)).hexdigest())
        if self.left == 0 and self.child is not None:
            child = self.child
            if self.rng.random() < 0.5:
                child.kill()
                return {"behaviour": "drop"}
            asyncio.get_running_loop().call_later(self.rng.random() * 0.005, child.kill)
        self.left -= 1
        return self.replies(role, n, request)


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("name", ASKING)
def test_a_killed_run_goes_on_where_it_was(
    name: str, part: int, tmp_path: Path, forked: Forking, rng: random.Random, share: Callable[[int], int],
    tally: Callable[[str, str], Tally],
) -> None:  # fmt: skip
    counted = tally("kill -9 at a random moment", name)
    undisturbed = run_whole(name, tmp_path / "undisturbed", forked)
    number = 0
    while counted.tried < share(KILLS // 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        killed_until_whole(name, folder, forked, rng, counted, undisturbed)
        shutil.rmtree(folder)
        number += 1


def run_whole(name: str, folder: Path, forked: Forking) -> list[Any]:
    folder.mkdir()
    with running(ASKING[name].replies) as server:
        child = forked.run(ASKING[name].begin(folder, server), folder)
    assert child.code in (0, 1), child.said
    return [told_by(record) for record in records(folder)]


def records(folder: Path) -> list[Record]:
    return [Record(path) for path in sorted((folder / "runs").glob("[!.]*"))]


def killed_until_whole(
    name: str, folder: Path, forked: Forking, rng: random.Random, counted: Tally, undisturbed: list[Any]
) -> None:
    """One run, killed until it comes to its end before the next kill. Each counts once it is known what came of it."""
    way, killer = ASKING[name], Killer(rng, ASKING[name].replies)
    segment_bytes = rng.choice([0, SMALL_SEGMENT])
    journals: dict[str, bytes] = {}
    finished: set[str] = set()
    n_kills = 0
    with running(killer.answer) as server:
        words = way.begin(folder, server)
        while True:
            asked_before, killer.left = len(killer.asked), rng.randrange(5)
            child = forked.run(words, folder, begun=killer.aim, segment_bytes=segment_bytes)
            killer.aim(None)
            fault = None if child.killed else ended_badly(child)
            if not finished.isdisjoint(killer.asked[asked_before:]):
                fault = "what was answered was asked again"
            try:
                fault = fault or lost(folder, journals)
                finished |= {one for record in records(folder) for one in answered(record)}
            except BenchbookError as error:
                fault = f"the record can't be read: {error}"
            if fault is not None or not child.killed:
                break
            n_kills += 1
            words = way.again(words, folder)
    for _ in range(n_kills - 1):
        counted.count(None)
    fault = fault or another_end(folder, undisturbed)
    counted.count(fault and f"after {n_kills} kills: {fault}")


def ended_badly(child: Child) -> str | None:
    return None if child.code in (0, 1) and "Traceback" not in child.said else f"ended with {child.code}: {child.said}"


def lines_of(record: Record) -> bytes:
    """The whole lines of a journal, sealed or not, without a torn one at its end."""
    found = b"".join(read_segment(path) for path in segment_files(record.journal))
    return found[: found.rfind(b"\n") + 1]


def lost(folder: Path, journals: dict[str, bytes]) -> str | None:
    """Facts that were there before and are not there now, or are other ones; remembers those that are there now."""
    for record in records(folder):
        now = lines_of(record)
        if not now.startswith(journals.get(record.run_id, b"")):
            return f"{record.run_id}: facts were lost or changed"
        journals[record.run_id] = now
    gone = journals.keys() - {record.run_id for record in records(folder)}
    return f"{min(gone)}: the record is gone" if gone else None


def answered(record: Record) -> set[str]:
    facts = (line.fact for line in read_journal(record.journal))
    return {fact.request_sha256 for fact in facts if isinstance(fact, Reply) and fact.request_sha256}


def another_end(folder: Path, undisturbed: list[Any]) -> str | None:
    """In which way the end is not that of an undisturbed run."""
    found = records(folder)
    if [told_by(record) for record in found] != undisturbed:
        return "the rows are not those of an undisturbed run"
    for record in found:
        if findings := verify(record).findings:
            return f"does not verify: {findings[0]}"
        replies = Counter(
            (line.fact.sample, line.fact.role, line.fact.judge)
            for line in read_journal(record.journal) if isinstance(line.fact, Reply)
        )  # fmt: skip
        if replies.most_common(1)[0][1] != 1:
            return "a sample was answered twice"
    return left_behind(folder)


def left_behind(folder: Path) -> str | None:
    """Whatever is half made in a folder and its records' after something else was made there, which sweeps them."""
    for below in (folder, folder / "runs"):
        if below.is_dir():
            with folder_made_whole(below / "another"):
                pass
    left = leftovers(folder)
    return f"left behind: {left}" if left else None


# ── those that ask nobody ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Quiet:
    """A command that asks nobody: what it needs, its words, what is done after a kill, and what is there in the end."""

    prepare: Callable[[Path], None]
    words: list[str]
    again: Callable[[Path], list[str]]
    told: Callable[[Path], Any]


def _to_score(folder: Path) -> None:
    write_lines(folder / "items.jsonl", ITEMS)
    write_lines(folder / "predictions.jsonl", PREDICTIONS)


_SCORE = [
    "score",
    "--evalset",
    "items.jsonl",
    "--predictions",
    "predictions.jsonl",
    "--run-id",
    "run",
    "--reports",
    "none",
]
_IMPORT = ["judge", "import", "judgements.jsonl", "--set", "set", "--record", "run", "--reports", "none"]
_RESCORE = ["rescore", "run", "--reports", "none"]
_LABEL = ["label", "import", "labels", "sheet.csv", "--labeller", "ann"]
_DRAW = ["label", "sample", "run", "--n", "6", "--out", "labels"]
_ARCHIVE = ["judge", "archive", "run", "--out", "archive"]


def _again_or_rescored(words: list[str]) -> Callable[[Path], list[str]]:
    """A record that is there is derived; where there is none, it is made."""
    return lambda folder: _RESCORE if (folder / "runs" / "run").exists() else words


def _rows(folder: Path) -> Any:
    record = Record(folder / "runs" / "run")
    return told_by(record), [str(one) for one in verify(record).findings]


def _judged(folder: Path) -> None:
    judged_run(folder, [(2, 2), (1, 2), None, (2, 0), (0, 1), (2, 1), (1, 1), (2, 2)])


def _without_derived_files(folder: Path) -> None:
    _judged(folder)
    for name in ("samples.parquet", "aggregates.json", "decision.json", "manifest.json"):
        (folder / "runs" / "run" / name).unlink()


def _to_import(folder: Path) -> None:
    outputs = make_set(folder)
    made = (judgement(outputs, number) for number in range(8))
    rows = [{"reply": one.reply, "judge_model": "z", "method": "cross_judge", **output.cell}
            for one, output in zip(made, outputs.outputs, strict=False)]  # fmt: skip
    write_lines(folder / "judgements.jsonl", rows)


def _with_judgements(folder: Path) -> None:
    _to_import(folder)
    said(folder, *_IMPORT)


def _files(name: str) -> Callable[[Path], Any]:
    def told(folder: Path) -> Any:
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in (folder / name).rglob("*") if path.is_file()
        }

    return told


def _with_book(folder: Path) -> None:
    _judged(folder)
    said(folder, *_DRAW)
    sheet = said(folder, "label", "export", "labels").decode()
    rows = list(csv.DictReader(sheet.splitlines()))
    with (folder / "sheet.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        for number, row in enumerate(rows):
            writer.writerow(row | {"accuracy_score": str(number % 3), "faithfulness_score": "2"})


def said(folder: Path, *words: str) -> bytes:
    found = benchbook_here(*words, cwd=folder)
    assert found.returncode in (0, 1), found.stderr.decode()
    return found.stdout


def _labels(folder: Path) -> Any:
    return said(folder, "label", "export", "labels", "--labeller", "ann")


def _drawn(folder: Path) -> Any:
    return said(folder, "label", "export", "labels")


QUIET: Mapping[str, Quiet] = {
    "score": Quiet(_to_score, _SCORE, _again_or_rescored(_SCORE), _rows),
    "rescore": Quiet(_without_derived_files, _RESCORE, lambda folder: _RESCORE, _files("runs/run")),
    "judge import": Quiet(_to_import, _IMPORT, _again_or_rescored(_IMPORT), _rows),
    "judge archive": Quiet(_with_judgements, _ARCHIVE, lambda folder: _ARCHIVE, _files("archive")),
    "label sample": Quiet(
        _judged, _DRAW, lambda folder: ["label", "status", "labels"] if (folder / "labels").exists() else _DRAW, _drawn
    ),
    "label import": Quiet(_with_book, _LABEL, lambda folder: _LABEL, _labels),
}


@pytest.mark.parametrize("name", QUIET)
def test_a_killed_command_is_given_again(
    name: str, tmp_path: Path, forked: Forking, rng: random.Random, share: Callable[[int], int],
    tally: Callable[[str, str], Tally],
) -> None:  # fmt: skip
    quiet = QUIET[name]
    counted = tally("kill -9 at a random call", name)
    before, whole = tmp_path / "before", tmp_path / "whole"
    before.mkdir()
    quiet.prepare(before)
    shutil.copytree(before, whole)
    child = forked.run(quiet.words, whole, kill_at=-1)
    assert child.code in (0, 1), child.said
    expected = quiet.told(whole)
    for _ in range(share(QUIET_KILLS)):
        at = rng.randrange(1, child.calls)
        folder = Path(shutil.copytree(before, tmp_path / "again"))
        counted.count(killed_once(quiet, folder, forked, at, expected))
        shutil.rmtree(folder)


def killed_once(quiet: Quiet, folder: Path, forked: Forking, at: int, expected: Any) -> str | None:
    killed = forked.run(quiet.words, folder, kill_at=at)
    if killed.code == -9:
        again = forked.run(quiet.again(folder), folder)
        if fault := ended_badly(again):
            return f"at call {at}, then: {fault}"
    elif fault := ended_badly(killed):  # a few calls fewer than the first time
        return f"at call {at}: {fault}"
    if quiet.told(folder) != expected:
        return f"at call {at}: the end is another"
    left = left_behind(folder)
    return f"at call {at}: {left}" if left else None
