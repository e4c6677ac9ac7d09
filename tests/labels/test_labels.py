"""Labels on disk: drawn by seed, given and undone, resumed, refused where they may not stand, and never changed."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import ConfigError, RecordDamagedError, RecordError, RecordLockedError, UsageError
from benchbook.labels.drawing import draw
from benchbook.labels.labels import (
    give_labels,
    labeller_name,
    open_labels,
    take_back,
)
from benchbook.labels.session import action_of, next_question, progress_of, prompt_of, screen_of
from benchbook.labels.state import Given
from benchbook.record.journal import JournalWriter
from labels.small import ACCURACY, FAITHFULNESS, RUN, book, label
from support import examples

# ── drawing ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_strata_get_their_share_by_largest_remainder() -> None:
    strata = {n: "a" if n < 70 else "b" if n < 95 else "c" for n in range(100)}  # 7.0, 2.5 and 0.5 of 10
    drawn = draw(strata, 10, seed=7, run_sha256=RUN)
    assert {name: one.n_drawn for name, one in drawn.strata.items()} == {"a": 7, "b": 3, "c": 0}
    assert Counter(strata[sample] for sample in drawn.samples) == {"a": 7, "b": 3}


def test_the_same_seed_draws_the_same_samples() -> None:
    strata = dict.fromkeys(range(1000), "")
    first = draw(strata, 50, seed=7, run_sha256=RUN)
    assert first == draw(dict(reversed(strata.items())), 50, seed=7, run_sha256=RUN)
    assert first.samples[:5] == [683, 680, 104, 468, 650]  # by sha256sum and sort
    assert first.samples != draw(strata, 50, seed=8, run_sha256=RUN).samples
    assert first.samples != draw(strata, 50, seed=7, run_sha256="b" * 64).samples


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5), seed=st.integers(), data=st.data())
def test_a_draw_is_proportional(sizes: list[int], seed: int, data: st.DataObject) -> None:
    strata = {number: str(name) for name, size in enumerate(sizes) for number in range(name * 100, name * 100 + size)}
    n = data.draw(st.integers(1, len(strata)))
    drawn = draw(strata, n, seed=seed, run_sha256=RUN)
    assert len(set(drawn.samples)) == n
    assert set(drawn.samples) <= strata.keys()
    for name, one in drawn.strata.items():
        assert abs(one.n_drawn - n * sizes[int(name)] / len(strata)) < 1
        assert one.n_drawn == sum(strata[sample] == name for sample in drawn.samples)


def test_every_sample_has_the_same_chance() -> None:
    """1,000 draws of 5 out of 20: each sample 250 times on average, sd 13.7."""
    strata = {n: "a" if n < 8 else "b" for n in range(20)}
    seen = Counter(sample for seed in range(1000) for sample in draw(strata, 5, seed=seed, run_sha256=RUN).samples)
    assert all(abs(seen[n] - 250) < 5 * 13.7 for n in range(20))


@pytest.mark.parametrize("n", [0, -1, 4])
def test_an_impossible_number_is_named(n: int) -> None:
    with pytest.raises(ConfigError, match=f"n: found {n}; expected 1 to 3"):
        draw(dict.fromkeys(range(3), ""), n, seed=0, run_sha256=RUN)


# ── giving, undoing, settling ────────────────────────────────────────────────────────────────────────────────


def test_labels_come_back_as_they_were_given(tmp_path: Path) -> None:
    found = give_labels(book(tmp_path), [label(10, "ann", 2, note="=1+1 \x1b[31m"), label(11, "ann", 0, FAITHFULNESS)])
    again = open_labels(tmp_path / "labels")
    assert again.sha256 == found.sha256
    assert [(one.sample, one.field, one.score, one.round, one.note) for one in again.state.labels()] == [
        (10, ACCURACY, 2, "first", "=1+1 \x1b[31m"),
        (11, FAITHFULNESS, 0, "first", ""),
    ]
    assert again.started.run_sha256 == RUN


def test_two_people_and_a_third_round(tmp_path: Path) -> None:
    found = give_labels(book(tmp_path), [label(10, "ann", 2), label(11, "ann", 2), label(12, "ann", 1)])
    found = give_labels(found, [label(10, "bob", 2), label(11, "bob", 0)])
    gold = {sample: found.state.gold(sample, ACCURACY) for sample in (10, 11, 12)}
    assert [(one.score, one.origin) for one in gold.values()] == [(2, "agreed"), (None, "disputed"), (1, "single")]
    assert found.state.disputed(ACCURACY) == [11]
    found = give_labels(found, [label(11, "eve", 1, adjudicates=True)])
    settled = found.state.gold(11, ACCURACY)
    assert (settled.score, settled.origin) == (1, "adjudicated")
    assert [one.round for one in found.state.labels()] == ["first"] * 3 + ["second"] * 2 + ["adjudicated"]
    assert found.state.labellers == ["ann", "bob"]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (label(10, "ann", 1), "ann has labelled sample 10 accuracy_score 2 already"),
        (label(10, "eve", 1), "has two labels already, by ann and bob"),
        (label(99, "eve", 1), "sample 99 was not drawn"),
        (label(10, "eve", 1, adjudicates=True), "is not in dispute"),
    ],
)
def test_what_may_not_stand_is_refused_and_nothing_is_written(tmp_path: Path, given: Given, named: str) -> None:
    found = give_labels(book(tmp_path), [label(10, "ann", 2), label(10, "bob", 2)])
    with pytest.raises(UsageError, match=named):
        give_labels(found, [label(11, "eve", 1), given])
    assert open_labels(found.path).sha256 == found.sha256


def test_two_labels_by_one_person_in_one_go(tmp_path: Path) -> None:
    found = book(tmp_path)
    with pytest.raises(UsageError, match="ann has labelled"):
        give_labels(found, [label(10, "ann", 2), label(10, "ann", 2)])


def test_undo_takes_back_the_last_of_this_person(tmp_path: Path) -> None:
    found = give_labels(book(tmp_path), [label(10, "ann", 2), label(10, "bob", 0), label(11, "ann", 1)])
    undone = take_back(found, "ann")
    assert undone is not None
    assert (undone.sample, undone.score) == (11, 1)
    assert take_back(found.reload(), "ann") is not None
    assert take_back(found.reload(), "ann") is None
    again = open_labels(found.path)
    assert [(one.labeller, one.score) for one in again.state.labels()] == [("bob", 0)]
    facts = [json.loads(line) for line in (found.path / "journal/000001.jsonl").read_bytes().splitlines()]
    assert [fact.get("undoes") for fact in facts[1:]] == [None, None, None, 3, 1]  # nothing is ever taken out
    give_labels(again, [label(10, "ann", 0)])  # and may be given again


@examples(15)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["ann", "bob", "eve"]), st.sampled_from([10, 11, 12]), st.sampled_from([0, 1, 2, None])
        ),
        max_size=10,
    )
)
def test_a_record_read_again_says_the_same(tmp_path_factory: pytest.TempPathFactory, steps: list[Any]) -> None:
    found = book(tmp_path_factory.mktemp("labels"))
    standing: dict[tuple[str, int], int] = {}
    order: list[tuple[str, int]] = []
    for who, sample, score in steps:
        if score is None:
            last = next((key for key in reversed(order) if key[0] == who), None)
            undone = take_back(found, who)
            assert (undone is None) == (last is None)
            if last is not None:
                order.remove(last)
                del standing[last]
        elif (who, sample) not in standing and sum(key[1] == sample for key in standing) < 2:
            give_labels(found, [label(sample, who, score)])
            standing[who, sample] = score
            order.append((who, sample))
        else:
            with pytest.raises(UsageError):
                give_labels(found, [label(sample, who, score)])
    again = open_labels(found.path)
    assert {(one.labeller, one.sample): one.score for one in again.state.labels()} == standing


def test_one_writer_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.labels.labels._PATIENCE_S", 0)
    found = book(tmp_path)
    with JournalWriter(found.path / "journal"), pytest.raises(RecordLockedError):
        give_labels(found, [label(10, "ann", 2)])


def test_people_who_label_at_the_same_time_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbook.labels.labels._PATIENCE_S", 600)
    found = book(tmp_path, 8)

    def labels(who: str) -> None:
        for sample in found.started.samples:
            give_labels(open_labels(found.path), [label(sample, who, 1)])

    with ThreadPoolExecutor(2) as people:
        list(people.map(labels, ("ann", "bob")))
    assert progress_of(found.reload()).by_labeller == {"ann": 8, "bob": 8}


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_a_labeller_has_a_name(name: str) -> None:
    with pytest.raises(UsageError, match="labeller: found"):
        labeller_name(name)


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_changed_byte_is_named(tmp_path: Path) -> None:
    found = give_labels(book(tmp_path), [label(10, "ann", 2), label(11, "ann", 2)])
    path = found.path / "journal/000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"score":2', b'"score":0', 1))
    with pytest.raises(RecordDamagedError, match=r"000001\.jsonl:3"):
        open_labels(found.path)


def test_a_changed_sheet_is_named(tmp_path: Path) -> None:
    found = book(tmp_path)
    (sheet,) = (found.path / "inputs").iterdir()
    sheet.write_bytes(sheet.read_bytes().replace(b"Answer 0.", b"Answer 9."))
    with pytest.raises(RecordDamagedError, match="another hash"):
        open_labels(found.path)
    sheet.unlink()
    with pytest.raises(RecordError, match="can't be read"):
        open_labels(found.path)


def test_a_forged_undo_is_named(tmp_path: Path) -> None:
    found = give_labels(book(tmp_path), [label(10, "ann", 2)])
    forged = found.state.last_by("ann")
    assert forged is not None
    with JournalWriter(found.path / "journal") as journal:
        forged.score, forged.undoes, forged.labeller = None, 1, "bob"
        journal.append(forged)
    with pytest.raises(RecordDamagedError, match="no standing label of 'bob'"):
        open_labels(found.path)


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a record of labels"):
        open_labels(tmp_path)
    book(tmp_path)
    with pytest.raises(UsageError, match="is there already"):
        book(tmp_path)


# ── by keys ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_keys(tmp_path: Path) -> None:
    question = next_question(book(tmp_path), "ann")
    assert question is not None
    assert action_of("2", question, "ann", note="clear") == label(10, "ann", 2, note="clear")
    assert [action_of(key, question, "ann") for key in ("u", "U", "q", "\x03", "\x04", "n", "3", "x", "")] == [
        "undo", "undo", "quit", "quit", "quit", "note", "unknown", "unknown", "unknown",
    ]  # fmt: skip


def test_questions_go_on_where_they_were_left(tmp_path: Path) -> None:
    found, asked = book(tmp_path, 2), []
    while (question := next_question(found, "ann")) is not None:
        asked.append((question.place, question.field))
        found = give_labels(open_labels(found.path), [Given(question.row.sample, "ann", question.field, 1)])
    assert asked == [(place, field) for place in (1, 2) for field in (ACCURACY, FAITHFULNESS)]
    take_back(found, "ann")
    question = next_question(found.reload(), "ann")
    assert question is not None
    assert (question.place, question.field) == (2, FAITHFULNESS)


def test_who_labels_does_not_see_others_and_who_settles_does(tmp_path: Path) -> None:
    found = give_labels(book(tmp_path), [label(10, "ann", 2, note="see \x1b[2J")])
    question = next_question(found, "bob")
    assert question is not None
    assert "said" not in prompt_of(question)
    found = give_labels(found, [label(10, "bob", 0)])
    assert next_question(found, "eve", adjudicates=True) is not None
    question = next_question(found, "eve", adjudicates=True)
    assert question is not None
    assert "one said 2: see \\u001b[2J\n  one said 0" in prompt_of(question)
    assert "ann" not in prompt_of(question)


def test_a_screen_holds_nothing_that_a_terminal_acts_upon(tmp_path: Path) -> None:
    found = book(tmp_path, context={"a": "\x1b]0;title\x07"}, expected_answer="\u202edrow")
    question = next_question(found, "ann")
    assert question is not None
    screen = screen_of(question)
    assert not set(screen) & {"\x1b", "\x07", "\u202e"}
    assert "Question 0?" in screen
    assert "Answer 0." in screen


def test_progress_counts_what_stands(tmp_path: Path) -> None:
    found = give_labels(book(tmp_path), [label(10, "ann", 2), label(10, "bob", 1), label(11, "ann", 2)])
    progress = progress_of(found)
    assert progress.by_labeller == {"ann": 2, "bob": 1}
    assert progress.by_field[ACCURACY] == {"single": 1, "agreed": 0, "adjudicated": 0, "disputed": 1, "none": 1}
