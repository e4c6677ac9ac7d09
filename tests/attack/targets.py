"""What is attacked: a small record of every kind, each with the check that must see whatever is done to it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import own_scorers
from benchbook.errors import BenchbookError
from benchbook.evaluators.contract import Evaluator
from benchbook.evaluators.registry import evaluator_of
from benchbook.evaluators.verify import verify
from benchbook.labels.labels import open_labels, take_back
from benchbook.record import journal
from benchbook.record.derived_files import Discrepancy
from benchbook.record.folder import Record
from benchbook.record.state import JournalState
from evaluators.checks.test_checks_record import ITEMS, PREDICTIONS, own_spec
from running import benchbook_here, run, write_items
from scored import scored
from scripted_server import always_good, running
from support import ROOT

GOLDEN = ROOT / "tests" / "golden" / "records"
OF_DERIVATION_2 = ROOT / "tests" / "evaluators" / "records_of_derivation_2"

OLD_BOOK = "label book, from before books had an anchor"
Found = list[str]  # what a check says is wrong; empty where the thing holds


@dataclass(frozen=True)
class Target:
    """One thing to attack: its folder, and what is found wrong with it."""

    name: str
    folder: Path
    check: Callable[[Path], Found]

    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def copied(self, to: Path) -> Target:
        return Target(self.name, Path(shutil.copytree(self.folder, to)), self.check)


def verified(folder: Path) -> Found:
    return [str(finding) for finding in verify(Record(folder)).findings]


def book_verified(folder: Path) -> Found:
    found = benchbook_here("verify", str(folder))
    return [] if found.returncode == 0 else [(found.stdout + found.stderr).decode()]


def archive_checked(folder: Path) -> Found:
    """An archive, by the record beside it."""
    found = benchbook_here("judge", "archive", str(folder.parent / "judged"), "--check", str(folder))
    return [] if found.returncode == 0 else [(found.stdout + found.stderr).decode()]


# ── how each is made ─────────────────────────────────────────────────────────────────────────────────────────


def _golden(name: str) -> Callable[[Path], Path]:
    """A record of `tests/golden`, derived anew."""

    def make(folder: Path) -> Path:
        for part in ("journal", "inputs"):
            shutil.copytree(GOLDEN / name / part, folder / name / part)
        if name != "labels":
            _said("rescore", str(folder / name), "--reports", "none")
        return folder / name

    return make


def _of_before(name: str) -> Callable[[Path], Path]:
    return lambda folder: Path(shutil.copytree(OF_DERIVATION_2 / name, folder / name))


def _sealed(folder: Path) -> Path:
    """A run whose journal has several segments, all but the last sealed."""
    with pytest.MonkeyPatch.context() as patch, running(always_good) as server:
        patch.setattr(journal, "SEGMENT_BYTES", 3_000)
        return run(folder, server, 6).record.path


def _checks(folder: Path) -> Path:
    return scored(folder, PREDICTIONS, ITEMS, spec=str(own_spec(folder))).record.path


def _function(folder: Path) -> Path:
    own_scorers.scored(folder)
    return folder / "runs" / "run"


def _experiment(folder: Path) -> Path:
    """The records of a grid of two models, in one folder."""
    with running(always_good) as server:
        write_items(folder / "items.jsonl", 3)
        values = {"evalset": "items.jsonl", "judge": "openai/j@1", "experiment": "tried",
                  "model_base_url": server.base_url, "judge_base_url": server.base_url, "reports": "none"}  # fmt: skip
        lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
        grid = ["[grid]", 'model = ["openai/a@1", "openai/b@1"]']
        (folder / "grid.toml").write_text("\n".join([*lines, *grid]) + "\n", encoding="utf-8")
        _said("grid", "grid.toml", "--quiet", cwd=folder)
    return folder / "runs"


def experiment_verified(folder: Path) -> Found:
    return [found for cell in sorted(folder.iterdir()) for found in verified(cell)]


def _archive(folder: Path) -> Path:
    record = _of_before("judged")(folder)
    _said("judge", "archive", str(record), "--out", str(folder / "archive"))
    return folder / "archive"


def _book(folder: Path) -> Path:
    """Labels of two people, of an import each; one took the last back."""
    run, book = _golden("rubric_labelled")(folder), folder / "labels"
    _said("label", "sample", str(run), "--n", "6", "--out", str(book))
    for who, score in (("ann", 2), ("bob", 1)):
        rows = [f"{sample},{score},{score}" for sample in open_labels(book).started.samples]
        sheet = folder / "sheet.csv"
        sheet.write_text("\n".join(["sample,accuracy_score,faithfulness_score", *rows, ""]), encoding="utf-8")
        _said("label", "import", str(book), str(sheet), "--labeller", who)
    take_back(open_labels(book), "bob")
    return book


def _said(*words: str, cwd: Path | None = None) -> None:
    found = benchbook_here(*words, cwd=cwd)
    assert found.returncode in (0, 1), found.stderr.decode()


MAKE: Mapping[str, tuple[Callable[[Path], Path], Callable[[Path], Found]]] = {
    "rubric": (_golden("rubric_faults"), verified),
    "rubric, repeats and prices": (_golden("rubric_repeats"), verified),
    "rubric, sealed segments": (_sealed, verified),
    "rubric, interrupted": (_of_before("rubric_interrupted"), verified),
    "rubric, of derivation 2": (_of_before("rubric"), verified),
    "panel of judges": (_golden("rubric_panel"), verified),
    "judge protocol": (_golden("judged_gaps"), verified),
    "judgements imported": (_golden("judgements_unknown"), verified),
    "archive": (_archive, archive_checked),
    "correctness, training metrics": (_golden("score_a"), verified),
    "correctness, a model asked": (_golden("score_asked"), verified),
    "checks": (_checks, verified),
    "function scorer": (_function, verified),
    "experiment": (_experiment, experiment_verified),
    "label book": (_book, book_verified),
    OLD_BOOK: (_golden("labels"), book_verified),
}
"""By name: how a target is made in an empty folder, and what holds it."""


def made(name: str, folder: Path) -> Target:
    """A target that holds, in a folder of its own."""
    folder.mkdir(exist_ok=True)
    make, check = MAKE[name]
    target = Target(name, make(folder), check)
    found = check(target.folder)
    assert found == [], f"{name}: {found}"
    return target


# ── to check ten thousand times ──────────────────────────────────────────────────────────────────────────────


def derive_once(patch: pytest.MonkeyPatch) -> None:
    """The same journal and inputs give the same files, so these are derived once, and copied from then on.

    Most of what is changed lies in derived files; `verify` would derive the same anew, which is most of its work.
    """
    known: dict[bytes, tuple[list[Discrepancy] | BenchbookError, dict[str, bytes]]] = {}

    def remembering(record: Record) -> Evaluator:
        evaluator: Any = copy(evaluator_of(record))
        derive = evaluator.derive_checked

        def derive_checked(record: Record, target: Path, state: JournalState) -> list[Discrepancy]:
            facts = _facts_of(record)
            if facts not in known:
                findings = derive(record, target, state)
                files = (path for path in target.rglob("*") if path.is_file())
                known[facts] = findings, {path.relative_to(target).as_posix(): path.read_bytes() for path in files}
            findings, made = known[facts]
            for name, data in made.items():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).write_bytes(data)
            return findings

        evaluator.derive_checked = derive_checked
        return evaluator

    patch.setattr("benchbook.evaluators.verify.evaluator_of", remembering)


def _facts_of(record: Record) -> bytes:
    paths = sorted((*record.journal.iterdir(), *record.inputs.iterdir()))
    return b"".join(b"%s\0%s\0" % (path.name.encode(), path.read_bytes()) for path in paths)
