"""Labels and cards of a rubric of one's own: its scales, its gates, and criteria that do not apply."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbook.errors import UsageError
from benchbook.evaluators.registry import samples_type
from benchbook.evaluators.rubric.panel import panel_analysis
from benchbook.evaluators.rubric.reading import rubric_of
from benchbook.labels.answer_card import answer_card
from benchbook.labels.judge_card import has_judge_card, judge_card
from benchbook.labels.labels import LabelBook, give_labels
from benchbook.labels.session import LabelChoice, action_of, asked_of, choices_of, keys_of, next_question, prompt_of
from benchbook.labels.sheet import sample_labels
from benchbook.labels.state import Given
from benchbook.record.facts import LabelScale
from benchbook.record.folder import Record
from benchbook.record.tables import read_rows
from benchbook.views.answer_card import answer_card_lines
from benchbook.views.csv_files import labels_csv, read_labels_csv
from benchbook.views.judges import card_lines
from own_rubric import CITED, TONE, Verdict, own_run

TONES: list[Verdict] = [
    {"tone": 5, "safe": "yes"}, {"tone": 2, "safe": "yes"}, {"tone": 4, "safe": "no"}, {"tone": 5, "safe": "yes"},
]  # fmt: skip
SOURCES: list[Verdict] = [
    {"sources": None, "clear": 1}, {"sources": 2, "clear": 1}, {"sources": 0, "clear": 0},
    {"sources": None, "clear": 1},
]  # fmt: skip


@pytest.fixture(scope="module")
def tones(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return own_run(tmp_path_factory.mktemp("tone"), TONES).record


@pytest.fixture(scope="module")
def cited(tmp_path_factory: pytest.TempPathFactory) -> Record:
    return own_run(tmp_path_factory.mktemp("cited"), SOURCES, CITED).record


def labelled(record: Record, folder: Path, scores: dict[int, tuple[int | None, ...]]) -> LabelBook:
    book = sample_labels(record, folder / "labels", n=len(scores), stratify=(), seed=0)
    names = tuple(book.state.criteria)
    return give_labels(
        book,
        [
            Given(sample, "ann", name, score)
            for sample, given in scores.items()
            for name, score in zip(names, given, strict=True)
        ],
    )


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────


def choice(score: int | None, key: str | None, words: str = "") -> LabelChoice:
    return LabelChoice(score=score, key=key, words=words)


@pytest.mark.parametrize(
    ("criterion", "asked", "choices"),
    [
        (LabelScale(name="accuracy_score", scores=(0, 1, 2)), "", [
            choice(2, "2", "fully correct and complete"),
            choice(1, "1", "partially correct with minor error or omission"),
            choice(0, "0", "incorrect, missing, or non-responsive"),
        ]),
        (LabelScale(name="safe_score", scores=(0, 1), meaning="safe: Is it?\n1 more line", grades=("no", "yes")),
         "Is it?\n1 more line", [choice(1, "1", "yes"), choice(0, "0", "no")]),
        (LabelScale(name="x_score", scores=(-1, 0), may_not_apply=True), "",
         [choice(0, "2"), choice(-1, "1"), choice(None, "-", "does not apply")]),
        (LabelScale(name="n", scores=tuple(range(60))), "", [choice(n, None) for n in range(59, 33, -1)]),
    ],
)  # fmt: skip
def test_what_is_asked_and_what_can_be_said(criterion: LabelScale, asked: str, choices: list[LabelChoice]) -> None:
    assert asked_of(criterion) == asked
    assert choices_of(criterion)[: len(choices)] == tuple(choices)


def test_a_criterion_that_does_not_apply_has_a_key(cited: Record, tmp_path: Path) -> None:
    question = next_question(sample_labels(cited, tmp_path / "labels", n=1, stratify=(), seed=0), "ann")
    assert question is not None
    assert keys_of(question.criterion) == {"0": 0, "1": 1, "2": 2, "-": None}
    assert action_of("-", question, "ann") == Given(question.row.sample, "ann", "sources_score", None)
    assert prompt_of(question) == "sources: Are the sources named?"


def test_grades_have_their_words(tones: Record, tmp_path: Path) -> None:
    book = sample_labels(tones, tmp_path / "labels", n=1, stratify=(), seed=0)
    sample = book.started.samples[0]
    question = next_question(give_labels(book, [Given(sample, "ann", "tone_score", 3)]), "ann")
    assert question is not None
    assert prompt_of(question) == "safe: Could nobody come to harm by it?\n  0 no\n  1 yes"


def test_one_that_applies_to_every_answer_needs_a_score(tones: Record, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="tone_score: a label without a score, and it applies to every answer"):
        labelled(tones, tmp_path, dict.fromkeys(range(4), (None, 1)))


def test_a_sheet_takes_grades_and_what_does_not_apply(cited: Record, tones: Record, tmp_path: Path) -> None:
    book = labelled(cited, tmp_path, {0: (None, 1), 1: (2, 1), 2: (0, 0), 3: (None, 1)})
    path = tmp_path / "sheet.csv"
    path.write_text("".join(labels_csv(book, labeller="ann")), encoding="utf-8")
    read = read_labels_csv(path, book)
    assert (read.given, read.n_there_already, read.problems) == ([], 8, [])
    own = sample_labels(tones, tmp_path / "tones", n=1, stratify=(), seed=0)
    sample = own.started.samples[0]
    path.write_text(f"sample,tone_score,safe_score\n{sample},does not apply,no\n", encoding="utf-8")
    assert [str(one).partition("sheet.csv")[2] for one in read_labels_csv(path, own, labeller="bob").problems] == [
        ":2: tone_score: found 'does not apply'; expected 1, 2, 3, 4 or 5"
    ]
    path.write_text(f"sample,safe_score\n{sample},no\n", encoding="utf-8")
    assert read_labels_csv(path, own, labeller="bob").given == [Given(sample, "bob", "safe_score", 0)]


# ── the judge's card ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_judge_of_an_own_rubric_is_corrected_on_its_own_scale(tones: Record, tmp_path: Path) -> None:
    """Judge 5, 2, 4, 5, people 5, 3, 4, 4: both means are 4; safe by the judge 3 of 4, by people all."""
    book = labelled(tones, tmp_path, {0: (5, 1), 1: (3, 1), 2: (4, 1), 3: (4, 1)})
    card = judge_card(tones, book, n_resamples=200)
    tone, safe = card.calibration.fields
    assert (tone.field, list(tone.confusion), tone.n) == ("tone_score", ["1", "2", "3", "4", "5"], 4)
    assert (safe.field, safe.confusion) == ("safe_score", {"0": {"0": 0, "1": 0}, "1": {"0": 1, "1": 3}})
    found = {one.aggregate: one for one in card.calibration.corrected}
    assert (found["tone_mean"].as_judged, found["tone_mean"].by_labels_alone.estimate) == (4, 4)
    assert (found["safe_mean"].as_judged, found["safe_mean"].by_labels_alone.estimate) == (0.75, 1)
    decision = card.calibration.corrected_decision
    assert decision is not None
    gates = {one.aggregate: one for one in decision.gates}
    assert (gates["tone_mean"].value, gates["tone_mean"].best) == (4, 5)  # on a scale of 1 to 5, not of 0 to 1
    assert 1 <= (gates["tone_mean"].worst or 0) < 4
    assert (gates["safe_failure_rate"].frozen, gates["safe_failure_rate"].value) == (0.25, 0)
    assert (decision.decision, decision.by_values_alone) == ("INCONCLUSIVE", "READY")
    lines = "\n".join(card_lines(card))
    assert "Tone, judge and people (n = 4)" in lines
    assert "1.949 to 5.000" in lines


def test_where_a_criterion_need_not_apply_there_is_an_answer_card(cited: Record, tmp_path: Path) -> None:
    """The judge gave sources to 1 and 2 of four answers; people say that they apply to 1 and 3."""
    book = labelled(cited, tmp_path, {0: (None, 1), 1: (2, 1), 2: (None, 0), 3: (1, 1)})
    assert not has_judge_card(cited)
    with pytest.raises(UsageError, match="a judge's card is of a rubric whose criteria always apply"):
        judge_card(cited, book)
    card = answer_card(cited, book, n_resamples=200)
    sources, clear = card.criteria
    applies = sources.applies
    assert applies is not None
    assert (applies.both, applies.evaluator_alone, applies.people_alone, applies.neither) == (1, 1, 1, 1)
    assert (sources.n_scored, sources.n, sources.as_scored) == (2, 1, 1.0)
    assert clear.applies is None
    assert (clear.n_scored, clear.n, clear.as_scored, clear.corrected.estimate) == (4, 4, 0.75, 0.75)
    said = "\n".join(answer_card_lines(card))
    assert "applies by both to 1, by the evaluator alone to 1, by people alone to 1, by neither to 1" in said


COST = TONE + "\n[measures.cost]\ntarget = 0.00001\nweight = 1\n"


def test_a_card_and_a_panel_count_what_an_answer_cost(tmp_path: Path) -> None:
    """Each answer takes 10 tokens in, at 20 dollars a million: 0.0002, of which the target is a twentieth."""
    kind: Verdict = {"tone": 5, "safe": "yes"}
    prices = {"model_input_price": 20, "model_output_price": 0}
    result = own_run(tmp_path, [[kind, kind]] * 3, COST, **prices)
    aggregates = result.derived.aggregates.aggregates
    assert (aggregates.cost_mean_usd, aggregates.aggregate_score) == (0.0002, 0.683333333)  # (1 + 1 + 0.05) / 3
    book = labelled(result.record, tmp_path, dict.fromkeys(range(3), (5, 1)))
    corrected = {one.aggregate: one for one in judge_card(result.record, book, n_resamples=100).calibration.corrected}
    assert corrected["aggregate_score"].as_judged == pytest.approx(0.683333333)
    rows = read_rows(result.record.samples, samples_type(result.record))
    made = (result.derived.manifest, result.derived.aggregates)
    found = panel_analysis(*made, rows, rubric_of(result.record), n_resamples=100)
    assert [judge.aggregate_score for judge in found.judges] == [0.683333333] * 2
