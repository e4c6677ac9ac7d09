"""What people are asked is the evaluator's to say: by name, on its own scale, in every way in and out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchbook.cli.label import label
from benchbook.errors import ConfigError, RecordDamagedError, UsageError
from benchbook.labels.labels import LabelBook, SheetRow, create_labels, give_labels, open_labels
from benchbook.labels.session import action_of, keys_of, next_question, progress_of, prompt_of
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import Given, criteria_of, scores_words
from benchbook.record.facts import LabelScale, LabelsStarted
from benchbook.record.folder import Record
from benchbook.record.journal import JournalWriter
from benchbook.views.csv_files import labels_csv, read_labels_csv
from labelled import judged_run
from scored import PREDICTIONS, scored

RUN = "a" * 64
TONE = LabelScale(name="tone_score", scores=(-1, 0, 1), meaning="tone: Is it kind?")
DEPTH = LabelScale(name="depth_score", scores=tuple(range(0, 60, 5)))


def book(folder: Path, *criteria: LabelScale) -> LabelBook:
    rows = [SheetRow(sample=n, item_id=f"i{n}", prompt=f"Question {n}?", answer=f"Answer {n}.") for n in range(3)]

    def first(inputs: dict[str, str]) -> LabelsStarted:
        return LabelsStarted(
            run_id="run", run_sha256=RUN, spec="own@v1", seed=1, stratify=[], strata={}, samples=[0, 1, 2], hidden=[],
            inputs=inputs, drawn_by="benchbook", criteria=list(criteria),
        )  # fmt: skip

    return create_labels(folder / "labels", rows, first)


# ── criteria and scales ──────────────────────────────────────────────────────────────────────────────────────


def test_a_record_that_names_none_asks_those_of_before(tmp_path: Path) -> None:
    asked = criteria_of(book(tmp_path).started)
    assert [(one.name, one.scores) for one in asked] == [
        ("accuracy_score", (0, 1, 2)),
        ("faithfulness_score", (0, 1, 2)),
    ]
    assert b"criteria" not in (tmp_path / "labels/journal/000001.jsonl").read_bytes()


def test_criteria_are_kept_and_asked_in_their_order(tmp_path: Path) -> None:
    found, asked = open_labels(book(tmp_path, TONE, DEPTH).path), []
    assert criteria_of(found.started) == (TONE, DEPTH)
    while (question := next_question(found, "ann")) is not None:
        asked.append((question.place, question.field))
        found = give_labels(found, [Given(question.row.sample, "ann", question.field, 0)])
    assert asked == [(place, name) for place in (1, 2, 3) for name in ("tone_score", "depth_score")]
    assert progress_of(found).by_field["tone_score"]["single"] == 3
    assert progress_of(found).n_labels_a_person == 6


@pytest.mark.parametrize(
    ("field", "score", "named"),
    [
        ("tone_score", 2, "tone_score: found 2; expected -1, 0 or 1"),
        ("depth_score", 7, "depth_score: found 7; expected 0, 5, 10"),
        ("accuracy_score", 1, "'accuracy_score' is not asked here; expected tone_score or depth_score"),
    ],
)
def test_what_is_not_asked_is_refused(tmp_path: Path, field: str, score: int, named: str) -> None:
    found = book(tmp_path, TONE, DEPTH)
    with pytest.raises(UsageError, match=named):
        give_labels(found, [Given(0, "ann", field, score)])
    forged = give_labels(found, [Given(0, "ann", "tone_score", 1)]).state.last_by("ann")
    assert forged is not None
    with JournalWriter(found.path / "journal") as journal:
        forged.field, forged.score = field, score
        journal.append(forged)
    with pytest.raises(RecordDamagedError, match=named):
        open_labels(found.path)


@pytest.mark.parametrize(
    ("scores", "words"), [((0, 1), "0 or 1"), ((0, 1, 2), "0, 1 or 2"), ((-1, 0, 1), "-1, 0 or 1"), ((3,), "3")]
)
def test_a_scale_in_words(scores: Sequence[int], words: str) -> None:
    assert scores_words(scores) == words


@pytest.mark.parametrize(
    ("scores", "keys"),
    [
        ((0, 1), {"0": 0, "1": 1}),
        ((1, 2, 3, 4, 5), {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5}),
        ((-1, 0, 1), {"1": -1, "2": 0, "3": 1}),
        (tuple(range(11)), {**{str(n): n - 1 for n in range(1, 10)}, "a": 9, "b": 10}),
    ],
)
def test_each_score_has_a_key(scores: tuple[int, ...], keys: dict[str, int]) -> None:
    assert keys_of(LabelScale(name="x", scores=scores)) == keys


def test_no_score_takes_a_key_that_means_something_else() -> None:
    keys = keys_of(LabelScale(name="x", scores=tuple(range(0, 400, 10))))
    assert len(keys) == 32
    assert not set("nqu") & keys.keys()


def test_a_key_gives_the_score_that_it_stands_for(tmp_path: Path) -> None:
    question = next_question(book(tmp_path, TONE), "ann")
    assert question is not None
    assert action_of("1", question, "ann") == Given(0, "ann", "tone_score", -1)
    assert action_of("0", question, "ann") == "unknown"
    assert prompt_of(question) == "tone: Is it kind?"


def test_a_sheet_has_a_column_for_each_criterion(tmp_path: Path) -> None:
    found = book(tmp_path, TONE, DEPTH)
    rows = list(csv.DictReader(io.StringIO("".join(labels_csv(found)), newline="")))
    assert list(rows[0])[-4:] == ["tone_score", "depth_score", "note", "labeller"]
    path = tmp_path / "s.csv"
    path.write_text("sample,tone_score,depth_score\n0,-1,55\n1,,7\n2,-2,\n", encoding="utf-8")
    read = read_labels_csv(path, found, labeller="ann")
    assert read.given == [Given(0, "ann", "tone_score", -1), Given(0, "ann", "depth_score", 55)]
    assert [str(one).partition("s.csv")[2] for one in read.problems] == [
        ":3: depth_score: found '7'; expected 0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50 or 55",
        ":4: tone_score: found '-2'; expected -1, 0 or 1",
    ]


@pytest.mark.parametrize("criteria", [[TONE, TONE], [LabelScale(name="x", scores=())]])
def test_criteria_that_can_t_be_asked_are_damage(tmp_path: Path, criteria: list[LabelScale]) -> None:
    with pytest.raises(RecordDamagedError, match=r"000001\.jsonl:1: criteria that can't be asked"):
        book(tmp_path, *criteria)


def test_a_name_holds_nothing_that_a_terminal_acts_upon(tmp_path: Path) -> None:
    found = book(tmp_path, LabelScale(name="\x1b[31mred", scores=(0, 1)))
    for words, keys in ((["status"], ""), (["next", "--labeller", "ann"], "1uq"), (["export"], "")):
        done = CliRunner().invoke(label, [words[0], str(found.path), *words[1:]], input=keys)
        assert done.exit_code == 0, done.exception
        assert "\x1b" not in done.output
        assert "[31mred" in done.output


# ── runs of every evaluator ──────────────────────────────────────────────────────────────────────────────────


def correctness(folder: Path) -> Record:
    return scored(folder).record


def contains(folder: Path) -> Record:
    return scored(folder, spec="contains@v1").record


def own_checks(folder: Path) -> Record:
    (folder / "mine@v1").mkdir()
    text = 'name = "mine"\nversion = 1\nabout = "Short."\n\n[[checks]]\nname = "short"\nkind = "max_words"\nlimit = 3\n'
    (folder / "mine@v1/spec.toml").write_text(text, encoding="utf-8")
    return scored(folder, spec=str(folder / "mine@v1")).record


@pytest.mark.parametrize("make", [correctness, contains, own_checks])
def test_whether_an_answer_passes_is_asked_of_an_evaluator_without_a_judge(
    make: Callable[[Path], Record], tmp_path: Path
) -> None:
    found = sample_labels(make(tmp_path), tmp_path / "labels", n=4, stratify=["section"], seed=7)
    (criterion,) = criteria_of(found.started)
    assert (criterion.name, criterion.scores) == ("passed", (0, 1))
    said = {str(one["item_id"]): str(one["predicted"]) for one in PREDICTIONS}
    assert {row.item_id: row.answer for row in found.sheet.values()} == said  # e, which nobody answered, is not drawn
    assert {name: one.n_drawn for name, one in found.started.strata.items()} == {"core": 2, "edge_case": 1, "none": 1}
    assert {"passed", "miss_reason", "model_id"} <= set(found.started.hidden)
    for path in (tmp_path / "labels/inputs").iterdir():
        assert b"passed" not in path.read_bytes()


def test_strata_may_be_what_passed(tmp_path: Path) -> None:
    found = sample_labels(correctness(tmp_path), tmp_path / "labels", n=4, stratify=["passed"], seed=7)
    assert sum(one.n_drawn for one in found.started.strata.values()) == 4
    assert set(found.started.strata) == {"True", "False"}
    with pytest.raises(ConfigError, match="stratify: found 'accuracy_score'; expected passed, section"):
        sample_labels(correctness(tmp_path / "labels"), tmp_path / "x", n=4, stratify=["accuracy_score"], seed=7)


def test_what_nobody_judged_is_not_drawn(tmp_path: Path) -> None:
    crashed = scored(tmp_path, run_status="crashed").record
    with pytest.raises(ConfigError, match="expected 1 to 0"):
        sample_labels(crashed, tmp_path / "labels", n=1, stratify=[], seed=0)


def test_a_rubric_asks_by_its_criteria(tmp_path: Path) -> None:
    found = sample_labels(judged_run(tmp_path, [(2, 1)] * 3), tmp_path / "labels", n=2, stratify=["passed"], seed=0)
    assert [(one.name, one.scores) for one in found.started.criteria] == [
        ("accuracy_score", (0, 1, 2)),
        ("faithfulness_score", (0, 1, 2)),
    ]
    assert found.started.hidden == [
        "accuracy_score", "faithfulness_score", "rationale", "passed", "model_id", "labels of others",
    ]  # fmt: skip
    question = next_question(found, "ann")
    assert question is not None
    assert "2 fully correct and complete" in prompt_of(question)


def test_answers_of_checks_are_labelled_by_keys_and_settled(tmp_path: Path) -> None:
    contains(tmp_path)
    out = str(tmp_path / "labels")

    def good(*words: str, keys: str | None = None) -> str:
        done = CliRunner().invoke(label, [*words], input=keys)
        assert done.exit_code == 0, (done.output, done.exception)
        return done.output

    said = good("sample", str(tmp_path / "runs/run"), "--n", "2", "--out", out)
    assert "2 of 4 scored answers, drawn by seed 0" in said
    said = good("next", out, "--labeller", "ann", keys="2n!\n10")
    assert "1 the answer is right" in said
    assert "[0/1 score, n note, u undo, q quit] ?" in said
    good("next", out, "--labeller", "bob", keys="11")
    assert "passed: 1 agreed, 1 disputed" in good("status", out)
    assert "one said 0\n  one said 1" in good("adjudicate", out, "--labeller", "eve", keys="0")
    found = json.loads(good("status", out, "--json"))
    assert found["progress"]["by_field"] == {
        "passed": {"single": 0, "agreed": 1, "adjudicated": 1, "disputed": 0, "none": 0}
    }
