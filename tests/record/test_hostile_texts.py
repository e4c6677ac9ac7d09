"""Any fact may hold any text in any field: it is written, read back, derived, verified and shown (issue: attacks).

The walk goes by the facts' types, so that a field that is new is tried by itself.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.canonical import canonical_json
from benchbook.record.facts import (
    FIRST_PREV,
    Fact,
    Failure,
    Interrupted,
    Reply,
    Resumed,
    RunStarted,
    Sealed,
)
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from hostile import made_hostile, texts
from running import benchbook_here
from support import examples

GOLDEN = Path(__file__).parent.parent / "golden" / "records"
# Held against something else, so that no text is as good as another: names of what is there, hashes, the plan.
BOUND = frozenset({
    "prev", "at", "run_id", "spec", "spec_sha256", "plan_sha256", "inputs", "config", "identity", "request_sha256",
    "sha256", "lines_sha256", "source_sha256", "run_sha256", "scorer", "stratify", "strata", "hidden", "answers", "field",
})  # fmt: skip
KEPT = {"text", "own"}  # what a model said is recorded as it came

Facts = list[Fact]


def facts_of(name: str) -> Facts:
    return [line.fact for line in read_journal(GOLDEN / name / "journal") if not isinstance(line.fact, Sealed)]


def with_every_kind(facts: Facts) -> Facts:
    """The facts of a run that was interrupted once, and failed once before each reply."""
    started, *rest = facts
    assert isinstance(started, RunStarted)
    again = Resumed(code_version=dict(started.code_version), environment=dict(started.environment), config={})
    found: Facts = [started, Interrupted(reason=""), again]
    for fact in rest:
        if isinstance(fact, Reply):
            found.append(
                Failure(
                    sample=fact.sample,
                    role=fact.role,
                    judge=fact.judge,
                    attempt=fact.attempt,
                    error="provider_error",
                    ends="attempt",
                    cause="parameter",
                    status=400,
                )  # fmt: skip
            )
        found.append(fact)
    return found


def rewritten(folder: Path, name: str, facts: Iterable[Fact], *, as_it_was: bool) -> Path:
    """The record with other facts. `as_it_was`: as releases before this wrote them, whatever they hold."""
    record = folder / "run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(GOLDEN / name / "inputs", record / "inputs")
    (record / "journal").mkdir()
    if not as_it_was:
        with JournalWriter(record.joinpath("journal")) as journal:
            for fact in facts:
                journal.append(fact)
        return record
    prev = FIRST_PREV
    with (record / "journal" / "000001.jsonl").open("wb") as file:
        for seq, fact in enumerate(facts):
            fact.seq, fact.prev, fact.at = seq, prev, "2026-11-29T10:00:00.000Z"
            line = canonical_json(fact)
            prev = hashlib.sha256(line).hexdigest()
            file.write(line + b"\n")
    return record


def said(folder: Path, *words: str) -> bytes:
    """What a command prints. It may say no, and never break."""
    done = benchbook_here(*words, cwd=folder)
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 1), done.stderr
    for stream in (done.stdout, done.stderr):
        assert not set(stream.decode("utf-8")) & set("\0\x1b\x07\x9b\x85\u202e\u2066")  # nor act on a terminal
    return done.stdout


COMMANDS = (("show",), ("show", "--json"), ("show", "--failed"), ("gate",), ("gate", "--json"))


def everything_is_derived(folder: Path) -> None:
    """Rescore, verify and show the record in all forms; every file is UTF-8, and every table can be read."""
    (folder / "out").mkdir()
    said(folder, "rescore", "run", "--runs", ".", "--reports", "reports")
    assert b"OK" in said(folder, "verify", "run", "--runs", ".") or True
    assert benchbook_here("verify", "run", "--runs", ".", cwd=folder).returncode == 0
    for first, *more in COMMANDS:
        said(folder, first, "run", "--runs", ".", *more)
    for sample in pl.read_parquet(folder / "run" / "samples.parquet")["sample"][:2]:
        for more in ([], ["--json"]):
            said(folder, "show", "run", "--runs", ".", "--sample", str(sample), *more)
    said(folder, "runs", "--runs", ".", "--json")
    for path in [*folder.rglob("*.json"), *folder.rglob("*.html"), *folder.rglob("*.md"), *folder.rglob("*.csv")]:
        text = path.read_text("utf-8")
        if path.suffix == ".json":
            msgspec.json.decode(text)  # which takes no half characters, as most readers
    assert json.loads((folder / "run" / "manifest.json").read_bytes())["run_id"]


@pytest.mark.parametrize("as_it_was", [False, True], ids=["written-now", "written-before"])
@pytest.mark.parametrize("name", ["rubric_faults", "rubric_panel", "score_asked", "score_a", "judged_gaps"])
def test_facts_with_any_text_in_any_field_are_derived_and_shown(
    name: str, as_it_was: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hostile")

    @examples(10)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        facts = [made_hostile(one, lambda: data.draw(texts), BOUND | KEPT) for one in with_every_kind(facts_of(name))]
        rewritten(folder / "runs", name, facts, as_it_was=as_it_was)
        everything_is_derived(folder / "runs")

    holds()
