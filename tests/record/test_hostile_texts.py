"""Any fact may hold any text in any field: it is written, read back, derived, verified and shown.

The walk goes by the facts' types, so that a field that is new is tried by itself.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, get_args

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.canonical import canonical_json, decode_json
from benchbook.record.derived_files import pretty_json
from benchbook.record.facts import (
    FIRST_PREV,
    BatchCollected,
    BatchPrepared,
    BatchSubmitted,
    DrawnStratum,
    Fact,
    Failure,
    Interrupted,
    Label,
    LabelScale,
    LabelsStarted,
    LogOutcomes,
    Outcome,
    Outcomes,
    Reply,
    Resumed,
    RunEnded,
    RunStarted,
    Sealed,
    fact_decoder,
    line_of,
)
from benchbook.record.imported_scores import ImportedOutcome, ImportedScore
from benchbook.record.journal import JournalWriter
from benchbook.record.reading import read_journal
from hostile import TEXTS, made_hostile, texts
from running import benchbook_here, written_words
from server.making import api_over
from support import examples

GOLDEN = Path(__file__).parent.parent / "golden" / "records"
AS_IT_CAME = frozenset({"text", "own", "config", "identity"})
# Held against something else, so that no text is as good as another: hashes, the plan, names of what is there.
BOUND = frozenset({
    "prev", "at", "run_id", "spec", "spec_sha256", "plan_sha256", "inputs", "config", "identity", "request_sha256",
    "batch",
})  # fmt: skip
# By record, the roles whose texts may be any without another fact being wrong by it.
RECORDS = {"rubric_faults": "judge", "rubric_panel": "judge", "score_asked": "candidate", "judged_gaps": "judge"}

EXAMPLES: tuple[Fact, ...] = (
    RunStarted(
        run_id="r", spec="s", spec_sha256="", plan_sha256="", n_items=1, repeats=1, config={"a": "b"}, inputs={"a": ""},
        identity={"plan": {"name": "m"}}, code_version={"benchbook": "1", "dirty": None}, environment={"cpus": 2},
    ),
    Reply(sample=0, role="judge", text="t", own="{}"),
    Failure(sample=0, role="candidate", error="timeout", ends="sample"),
    Outcomes(
        scorer="a@v1", source_sha256="", python="3",
        outcomes=[Outcome(sample=0, score=1, values={"a": "b", "c": 1}), Outcome(sample=1, fault="no")],
    ),
    LogOutcomes(
        outcomes=[ImportedOutcome(sample=0, scores={"a": ImportedScore(value=0.5, said="t")}, failure="t", limit="t")]
    ),
    BatchPrepared(
        batch="b", form="openai", address="", role="judge", n_requests=1, samples=[(0, 1)], sha256="",
        price_factor="0.5",
    ),
    BatchSubmitted(batch="b", vendor_id="v"),
    BatchCollected(batch="b", end="failed", detail="", results=[""]),
    Sealed(segment=1, sha256="", lines_sha256=""),
    Interrupted(reason=""),
    Resumed(code_version={"packages": {"a": "1"}}, environment={}, config={}),
    RunEnded(),
    LabelsStarted(
        run_id="r", run_sha256="", spec="s", seed=1, stratify=["a"],
        strata={"a": DrawnStratum(n_eligible=1, n_drawn=1)}, samples=[0], hidden=["a"], inputs={}, drawn_by="x",
        answers=[""], criteria=[LabelScale(name="c", scores=(0, 1), grades=("a", "b"))],
    ),
    Label(run_sha256="", sample=0, labeller="ann", field="f", score=1),
)  # fmt: skip


def is_unicode(text: str) -> bool:
    return not any("\ud800" <= one <= "\udfff" for one in text)


def test_every_kind_of_fact_is_tried() -> None:
    assert {type(one) for one in EXAMPLES} == set(get_args(Fact))


@pytest.mark.parametrize("fact", EXAMPLES, ids=lambda fact: type(fact).__name__)
@examples(12)
@given(st.data())
def test_a_fact_is_read_as_it_was_written_and_only_answers_and_settings_keep_half_characters(
    fact: Fact, data: st.DataObject
) -> None:
    written = made_hostile(fact, lambda: data.draw(texts), frozenset())
    came = {name: getattr(written, name) for name in written.__struct_fields__ if name in AS_IT_CAME}
    line = line_of(written)
    read = decode_json(line, fact_decoder)
    assert read == written  # what is in memory is what others will read
    assert {name: getattr(read, name) for name in came} == came
    told = {name: one for name, one in msgspec.to_builtins(read).items() if name not in AS_IT_CAME}
    msgspec.json.encode(told)
    assert is_unicode(pretty_json(read).decode("utf-8"))
    msgspec.json.decode(pretty_json(read))


def facts_of(name: str) -> list[Fact]:
    return [line.fact for line in read_journal(GOLDEN / name / "journal") if not isinstance(line.fact, Sealed)]


def with_every_kind(facts: list[Fact]) -> list[Fact]:
    """The facts of a run that was interrupted once, and whose every reply came at the second try."""
    started, *rest = facts
    assert isinstance(started, RunStarted)
    again = Resumed(code_version=dict(started.code_version), environment=dict(started.environment), config={})
    found: list[Fact] = [started, Interrupted(reason=""), again]
    for fact in rest:
        if isinstance(fact, Reply):
            failure = Failure(
                sample=fact.sample, role=fact.role, judge=fact.judge, attempt=fact.attempt, error="provider_error",
                ends="attempt", cause="parameter", status=400, request_sha256=fact.request_sha256,
            )  # fmt: skip
            found.append(failure)
        found.append(fact)
    return found


def hostile_facts(name: str, at: int) -> list[Any]:
    """A record's facts with hostile texts in turn, beginning with the one `at` that place."""
    text = partial(next, cycle([*TEXTS[at:], *TEXTS[:at]]))
    found = []
    for fact in with_every_kind(facts_of(name)):
        may_be_any = isinstance(fact, Reply) and fact.role == RECORDS[name]
        found.append(made_hostile(fact, text, BOUND if may_be_any else BOUND | {"text"}))
    return found


def rewritten(folder: Path, name: str, facts: Iterable[Any], *, as_it_was: bool) -> Path:
    """The record with other facts. `as_it_was`: as releases before wrote them, whatever they hold."""
    record = folder / name
    shutil.copytree(GOLDEN / name / "inputs", record / "inputs")
    (record / "journal").mkdir()
    if not as_it_was:
        with JournalWriter(record / "journal") as journal:
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


def said(folder: Path, *words: str, ends: tuple[int, ...] = (0,)) -> None:
    """A command says what it has to say; it breaks nothing, not even the terminal."""
    done = benchbook_here(*words, cwd=folder)
    assert b"Traceback" not in done.stderr
    assert done.returncode in ends, (words, done.stdout[-2_000:], done.stderr[-2_000:])
    for stream in (done.stdout, done.stderr):
        assert not set(written_words(stream)) & set("\0\x1b\x07\x9b\x85\u202e\u2066")


def everything_is_derived(folder: Path, record: Path) -> None:
    """Rescore, verify and show the record in all forms; every file is UTF-8, and every table can be read."""
    name = record.name
    said(folder, "rescore", name, "--runs", ".", "--reports", "reports")
    said(folder, "verify", name, "--runs", ".")
    samples = pl.read_parquet(record / "samples.parquet")["sample"]
    for more in (["--failed"], ["--json"], ["--sample", f"{samples[0]}"], ["--sample", f"{samples[1]}", "--json"]):
        said(folder, "show", name, "--runs", ".", *more)
    said(folder, "gate", name, "--runs", ".", ends=(0, 1, 2))
    said(folder, "runs", "--runs", ".", "--json")
    for path in record.glob("*.json"):
        msgspec.json.decode(path.read_bytes())  # which takes no half characters, as most readers
    for path in folder.rglob("*.*"):
        if path.suffix in (".html", ".md", ".csv", ".xml"):
            assert path.read_text("utf-8")
        elif path.suffix == ".json":
            json.loads(path.read_text("utf-8"))
        elif path.suffix == ".parquet":
            pl.read_parquet(path)


def everything_is_answered(folder: Path, record: Path) -> None:
    """The server answers with it, too, and its catalog keeps it."""
    samples = pl.read_parquet(record / "samples.parquet")["sample"][:3]
    api = api_over(folder, str(folder / "catalog.sqlite"))
    try:
        one = f"/api/v1/runs/{api.json('/api/v1/runs')['runs'][0]['run_id']}"
        for below in (
            "",
            "/manifest",
            "/aggregates",
            "/samples",
            "/samples.ndjson",
            *(f"/samples/{n}" for n in samples),
        ):
            assert api.get(one + below).status_code == 200
    finally:
        api.app.stop()


# By record, and whether its facts are as older releases wrote them. The attack tries all, with more texts a field.
@pytest.mark.parametrize(
    ("name", "as_it_was"),
    [("rubric_faults", False), ("rubric_faults", True), ("score_asked", False), ("judged_gaps", True)],
)
def test_facts_with_any_text_in_any_field_are_derived_and_shown(name: str, as_it_was: bool, tmp_path: Path) -> None:
    facts_are_derived_and_shown(tmp_path, name, hostile_facts(name, 20 * as_it_was), as_it_was=as_it_was)


def facts_are_derived_and_shown(folder: Path, name: str, facts: Iterable[Any], *, as_it_was: bool) -> None:
    record = rewritten(folder, name, facts, as_it_was=as_it_was)
    everything_is_derived(folder, record)
    everything_is_answered(folder, record)


BOUND_OF_LABELS = BOUND | {"run_sha256", "stratify", "strata", "hidden", "answers", "field", "criteria"}


def test_labels_with_any_text_in_any_field_are_counted_exported_and_calibrated(tmp_path: Path) -> None:
    labels_are_calibrated(tmp_path, TEXTS, as_it_was=True)


def labels_are_calibrated(folder: Path, texts: Sequence[str], *, as_it_was: bool) -> None:
    shutil.copytree(GOLDEN / "rubric_labelled", folder / "rubric_labelled")
    text = partial(next, cycle(texts))
    facts = [made_hostile(one, text, BOUND_OF_LABELS) for one in facts_of("labels")]
    rewritten(folder, "labels", facts, as_it_was=as_it_was)
    said(folder, "rescore", "rubric_labelled", "--runs", ".", "--reports", "none")
    for words in (["status", "labels"], ["status", "labels", "--json"], ["export", "labels"]):
        said(folder, "label", *words)
    said(folder, "calibrate", "rubric_labelled", "--runs", ".", "--labels", "labels", "--html", "card.html")
    assert (folder / "card.html").read_text("utf-8")
