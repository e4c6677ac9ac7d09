"""An evaluator's scores held against people's: values worked out by hand, over runs without a judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchbook.cli.judges import calibrate
from benchbook.labels.answer_card import AnswerCard, answer_card
from benchbook.labels.calibration_corrected import corrected_scores
from benchbook.labels.calibration_results import Drawing
from benchbook.labels.labels import LabelBook, give_labels
from benchbook.labels.sheet import LabelledRun, sample_labels
from benchbook.labels.state import Given
from benchbook.record.folder import Record
from benchbook.views.words import criterion_word
from labelled import judged_run
from scored import scored

# Ten answers: `contains@v1` passes the first six. People pass five of these, and one of the others.
ITEMS = [
    {"id": f"i{n}", "prompt": f"Question {n}?", "expected_answer": "yes", "section": "core" if n < 5 else "edge"}
    for n in range(10)
]
PREDICTIONS = [{"item_id": f"i{n}", "predicted": "Oh yes." if n < 6 else "Oh yea."} for n in range(10)]
PEOPLE = (1, 1, 1, 1, 1, 0, 1, 0, 0, 0)


def run_of(folder: Path, **settings: object) -> Record:
    return scored(folder, PREDICTIONS, ITEMS, spec="contains@v1", **settings).record


def labelled(record: Record, out: Path, samples: tuple[int, ...] = tuple(range(10)), who: str = "ann") -> LabelBook:
    book = sample_labels(record, out, n=10, stratify=[], seed=0)
    return give_labels(book, [Given(sample, who, "passed", PEOPLE[sample]) for sample in samples])


def card_of(folder: Path, *samples: int) -> AnswerCard:
    record = run_of(folder)
    return answer_card(record, labelled(record, folder / "labels", samples or tuple(range(10))), n_resamples=500)


def test_agreement_of_all_ten(tmp_path: Path) -> None:
    card = card_of(tmp_path)
    (trial,) = card.criteria
    assert trial.confusion == {"0": {"0": 3, "1": 1}, "1": {"0": 1, "1": 5}}
    kappa = trial.agreement["cohens_kappa"]
    assert kappa.observed_agreement == 0.8
    assert kappa.estimate == pytest.approx((0.8 - 0.52) / 0.48)  # by chance 0.6 · 0.6 + 0.4 · 0.4
    assert (trial.as_scored, trial.corrected.estimate, trial.by_labels_alone.estimate) == (0.6, 0.6, 0.6)
    assert trial.bias.overall.estimate == 0.0  # one too kind, one too strict
    assert (card.n_scored, card.n_labelled, card.n_labellers, card.as_drawn) == (10, 10, 1, True)


def test_a_pass_rate_is_corrected_by_the_labels_of_a_part(tmp_path: Path) -> None:
    """Of the six that passed 4 and 5 are labelled: half are right. Of the four others a quarter is."""
    (trial,) = card_of(tmp_path, 4, 5, 6, 7, 8, 9).criteria
    assert trial.as_scored == 0.6
    assert trial.corrected.estimate == pytest.approx((6 * 1 / 2 + 4 * 1 / 4) / 10)
    assert trial.by_labels_alone.estimate == pytest.approx(2 / 6)
    assert trial.n == 6
    low, high = trial.corrected.low, trial.corrected.high
    assert low is not None
    assert high is not None
    assert low < 0.4 < high


def test_two_people_and_what_is_open(tmp_path: Path) -> None:
    record = run_of(tmp_path)
    book = labelled(record, tmp_path / "labels")
    book = give_labels(book, [Given(0, "bob", "passed", 1), Given(1, "bob", "passed", 0)])
    (trial,) = answer_card(record, book, n_resamples=200).criteria
    assert (trial.n, trial.n_twice, trial.n_disputed) == (9, 2, 1)
    assert trial.between_people["cohens_kappa"].observed_agreement == 0.5


def test_a_scale_that_does_not_begin_at_0() -> None:
    judge, people = [5, 3, 1, 4, 2, 2], [4, 3, None, 5, None, 1]
    alone_each, drawing = [None] * 6, Drawing(n_resamples=200)
    found, alone = corrected_scores(judge, people, range(1, 6), clusters=alone_each, drawing=drawing)
    below = [None if one is None else one - 1 for one in people]
    from_0, alone_from_0 = corrected_scores(
        [one - 1 for one in judge], below, range(5), clusters=alone_each, drawing=drawing
    )
    assert alone.estimate == pytest.approx(13 / 4)
    for one, other in ((found, from_0), (alone, alone_from_0)):
        assert one.estimate == pytest.approx((other.estimate or 0) + 1)
        assert one.low == pytest.approx((other.low or 0) + 1)


def test_items_that_share_a_group_are_one_cluster(tmp_path: Path) -> None:
    items = [one | {"group": f"g{n // 2}"} for n, one in enumerate(ITEMS)]
    record = scored(tmp_path, PREDICTIONS, items, spec="contains@v1").record
    card = answer_card(record, labelled(record, tmp_path / "labels"), n_resamples=200)
    assert card.n_clusters == 5
    assert card.criteria[0].corrected.n_clusters == 5


def test_labels_of_one_evaluator_s_run_hold_for_another_s(tmp_path: Path) -> None:
    book = labelled(run_of(tmp_path), tmp_path / "labels")
    other = scored(
        tmp_path, PREDICTIONS, ITEMS, run_id="exact"
    ).record  # `answer_correctness@v1`: none of them is right
    (trial,) = answer_card(other, book, n_resamples=200).criteria
    assert trial.confusion == {"0": {"0": 4, "1": 0}, "1": {"0": 6, "1": 0}}
    assert (trial.as_scored, trial.corrected.estimate) == (0.0, 0.6)


def test_a_judge_s_scores_by_both_criteria(tmp_path: Path) -> None:
    record = judged_run(tmp_path, [(2, 2), (1, 2), (2, 0)])
    book = sample_labels(record, tmp_path / "labels", n=3, stratify=[], seed=0)
    book = give_labels(book, [Given(n, "ann", "accuracy_score", score) for n, score in enumerate((2, 2, 2))])
    accuracy, faithfulness = answer_card(record, book, n_resamples=200).criteria
    assert (accuracy.n, faithfulness.n) == (3, 0)
    assert accuracy.confusion["2"] == {"0": 0, "1": 1, "2": 2}
    assert accuracy.corrected.estimate == pytest.approx(2.0)
    assert faithfulness.corrected.reason == "no_data"


def test_an_answer_to_which_a_criterion_does_not_apply_counts_by_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = judged_run(tmp_path, [(2, 2), (1, 2), (2, 0)])
    given = LabelledRun.scores

    def scores(run: LabelledRun, row: Any) -> tuple[int | None, ...]:
        accuracy, faithfulness = given(run, row)
        return (None if row.sample == 1 else accuracy), faithfulness

    monkeypatch.setattr(LabelledRun, "scores", scores)
    book = sample_labels(record, tmp_path / "labels", n=3, stratify=[], seed=0)
    book = give_labels(book, [Given(n, "ann", "accuracy_score", 1) for n in range(3)])
    accuracy, faithfulness = answer_card(record, book, n_resamples=200).criteria
    assert (accuracy.n_scored, accuracy.n, accuracy.as_scored) == (2, 2, 2.0)
    assert (faithfulness.n_scored, faithfulness.n) == (3, 0)


def test_nothing_scored_is_no_number() -> None:
    for scale in (range(2), range(3)):
        for one in corrected_scores([], [], scale, clusters=[], drawing=Drawing(n_resamples=200)):
            assert (one.estimate, one.reason) == (None, "no_data")


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("passed", "Passed"),
        ("tone_score", "Tone"),
        ("well_put_score", "Well put"),
        ("GDPR", "GDPR"),
        ("FORMAT_COMPLIANCE", "Format compliance"),
        ("COMPLETENESS_score", "Completeness"),
        ("Right_score", "Right"),
        ("names_the_GDPR", "names the GDPR"),
        ("_", ""),
    ],
)
def test_a_criterion_in_words(name: str, word: str) -> None:
    assert criterion_word(name) == word


@pytest.mark.slow
def test_a_card_in_every_form(tmp_path: Path) -> None:
    labelled(run_of(tmp_path), tmp_path / "labels")

    def good(*words: str) -> str:
        done = CliRunner().invoke(calibrate, [str(tmp_path / "runs/run"), "--labels", str(tmp_path / "labels"), *words])
        assert done.exit_code == 0, (done.output, done.exception)
        return done.output

    said = good("--html", str(tmp_path / "card.html"))
    assert "contains@v1, held against 10 labelled answers of 10" in said
    assert "people 0: 3 scored 0, 1 scored 1" in said
    assert "the same score: 80.0 %; Cohen's kappa 0.583" in said
    found = json.loads(good("--json"))
    assert (found["spec"], found["carried"], found["criteria"][0]["criterion"]) == ("contains@v1", None, "passed")
    assert "NaN" not in json.dumps(found)
    for page in (good("--markdown"), (tmp_path / "card.html").read_text(encoding="utf-8")):
        assert "Bias, in points of the scale" in page
        assert "10 labelled answers of 10" in page
