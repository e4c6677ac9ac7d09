"""People's labels of a run's answers, and its evaluator held against them: `bb.label` and `bb.calibrate`."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from benchbook.errors import UsageError
from benchbook.evalsets.opening import as_file, path_in_memory
from benchbook.labels.labels import LabelBook, give_labels, labeller_name, open_labels
from benchbook.labels.session import LabelProgress, progress_of
from benchbook.library.keywords import Rows, listed
from benchbook.library.objects import AnyRun, record_of
from benchbook.library.twins import in_thread
from benchbook.record.folder import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars

    from benchbook.evaluators.document import Document
    from benchbook.labels.answer_card import AnswerCard
    from benchbook.labels.deciding import DecisionPlan
    from benchbook.labels.judge_card import JudgeCard


def label(
    run: AnyRun,
    *,
    out: str | Path = "labels",
    n: int | None = None,
    stratify: str | Iterable[str] = (),
    seed: int = 0,
    drawn_for: Literal["decision"] | None = None,
    labels: str | Path | Labels | None = None,
    items_of: str | Path | Labels | None = None,
    runs: str | Path = "runs",
) -> Labels:
    """Draw answers of a run that people are to label, as `benchbook label sample` does, into the new folder `out`.

    `stratify` draws in proportion by criteria (`accuracy_score`), section, category, difficulty or passed. What a judge
    said of the answers is not in the folder. Drawn are `n` of them, 100 by default.

    `drawn_for="decision"` draws more of those verdicts on which the run's decision hangs, by default as many as are
    expected to settle it (`Labels.plan`), and goes on from `labels` that are there.

    `items_of` are labels of another run over the same eval set: drawn are this run's answers to the same items, so that
    a comparison of the two is of pairs. Items without a scored answer here are left out (`Labels.n_not_drawn`).

    Raises: ConfigError for an unknown stratum, or an `n` that can't be; UsageError where `out` is there already, where
        no label changes the decision, and where the items of `items_of` are no fair draw of this run.
    """
    fields = listed(stratify)
    if items_of is not None:
        from benchbook.labels.items_of import sample_items_of

        if fields or n is not None or drawn_for is not None or labels is not None:
            raise UsageError("items_of: these labels say which items, and how many; leave the other arguments out")
        other = _book(items_of)
        return Labels(sample_items_of(record_of(run, runs), out, items_of=other, runs=runs, seed=seed))
    if drawn_for is None:
        from benchbook.labels.sheet import sample_labels

        if labels is not None:
            raise UsageError('labels: are gone on from with drawn_for="decision" alone')
        return Labels(sample_labels(record_of(run, runs), out, n=100 if n is None else n, stratify=fields, seed=seed))
    from benchbook.labels.decision_sheet import sample_for_decision

    if fields:
        raise UsageError("stratify: for the decision the judge's verdicts are the strata; leave it out")
    before = None if labels is None else _book(labels)
    book, plan = sample_for_decision(record_of(run, runs), out, n=n, seed=seed, labels=before)
    return Labels(book, plan)


label_async = in_thread(label)


def _book(labels: str | Path | Labels) -> LabelBook:
    return labels.book.reload() if isinstance(labels, Labels) else open_labels(labels)


def load_labels(folder: str | Path) -> Labels:
    """Labels that were drawn already. Raises: UsageError for another folder; RecordDamagedError."""
    return Labels(open_labels(folder))


class Labels:
    """People's labels in a folder, as they stood when they were read or last given here."""

    def __init__(self, book: LabelBook, plan: DecisionPlan | None = None) -> None:
        self.book = book
        self.plan = plan  # of a draw for the decision that was made here: the gates, and the labels that settle them

    @property
    def path(self) -> Path:
        return self.book.path

    @property
    def sha256(self) -> str:
        """The hash that names the labels as they stand."""
        return self.book.sha256

    @property
    def progress(self) -> LabelProgress:
        """How far each person is, and on how many samples two people agree or differ."""
        return progress_of(self.book)

    @property
    def n_not_drawn(self) -> int:
        """With `items_of`, how many of its items were not drawn: this run has no scored answer to them."""
        from benchbook.labels.items_of import n_not_drawn

        return n_not_drawn(self.book.started)

    @property
    def criteria(self) -> dict[str, list[int]]:
        """The scores that each criterion takes."""
        return {name: list(one.scores) for name, one in self.book.state.criteria.items()}

    @cached_property
    def sheet(self) -> polars.DataFrame:
        """A row for each answer to label: sample, item, prompt, context, expected answer, answer."""
        import polars as pl

        names = ("sample", "item_id", "prompt", "context", "expected_answer", "answer")
        texts = ((getattr(row, name) for name in names) for row in self.book.sheet.values())
        rows = [tuple(one if one is None or isinstance(one, int) else str(one) for one in row) for row in texts]
        return pl.DataFrame(rows, {"sample": pl.Int64, **dict.fromkeys(names[1:], pl.String)}, orient="row")

    def give(self, labels: Rows, *, labeller: str | None = None, adjudicates: bool = False) -> int:
        """Record labels, all of them or none, and return how many were new: a file that was filled in, or rows with
        `sample` and a column for each criterion, such as `{"sample": 3, "accuracy_score": 2}`.

        `labeller` is who labelled, by default the column of that name. With `adjudicates` they settle what two people
        scored differently.

        Raises: InputError naming the first line that is wrong.
        """
        from benchbook.views.csv_files import read_labels_csv

        name = None if labeller is None else labeller_name(labeller)
        with as_file(labels, "labels") as file:
            found = read_labels_csv(path_in_memory(file) or file, self.book, labeller=name, adjudicates=adjudicates)
        if found.problems:
            raise found.problems[0]
        self.book = give_labels(self.book, found.given)
        return len(found.given)

    def to_csv(self, *, labeller: str | None = None, disputed: bool = False) -> str:
        """The sheet, to be filled in with a spreadsheet and given back."""
        from benchbook.views.csv_files import labels_csv

        return "".join(labels_csv(self.book, labeller=labeller, disputed=disputed))

    def __repr__(self) -> str:
        found = self.progress
        by = "".join(f", {name} {n} of {found.n_labels_a_person}" for name, n in found.by_labeller.items())
        return f"<Labels {self.path}: {found.n_samples} answers of {self.book.started.run_id}{by}>"


def calibrate(
    run: AnyRun,
    labels: str | Path | Labels,
    *,
    judge: str | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    runs: str | Path = "runs",
) -> CalibrationCard:
    """Hold a run's scores against people's labels: agreement, bias, and the numbers corrected for its errors.

    As `benchbook calibrate` does: of a rubric's run the decision is corrected, too; of a judged experiment each `judge`
    has a card of its own.

    Raises: UsageError for labels of other answers, and where there is nothing to hold against them; RecordError.
    """
    (book,) = books_of(labels)
    return calibration_of(record_of(run, runs), book, judge=judge, confidence=confidence, seed=seed)


calibrate_async = in_thread(calibrate)


def calibration_of(
    record: Record, book: LabelBook, *, judge: str | None, confidence: float, seed: int
) -> CalibrationCard:
    """A judge's card where the run has one, else the card of its evaluator's scores."""
    from benchbook.labels.answer_card import answer_card
    from benchbook.labels.judge_card import has_judge_card, judge_card

    if has_judge_card(record):
        return CalibrationCard(judge_card(record, book, confidence=confidence, seed=seed))
    return CalibrationCard(answer_card(record, book, judge=judge, confidence=confidence, seed=seed))


LabelsLike: TypeAlias = "str | Path | Labels"


def books_of(labels: LabelsLike | Iterable[LabelsLike]) -> list[LabelBook]:
    """The records of labels, one or several: folders, or labels that were loaded, as they stand now.

    Raises: UsageError for another folder; RecordDamagedError.
    """
    several = [labels] if isinstance(labels, str | Path | Labels) else labels
    return [_book(one) for one in several]


class CalibrationCard:
    """A judge, or what else scored answers, on trial: `card` has all of it, with the fields that `--json` prints."""

    def __init__(self, card: JudgeCard | AnswerCard) -> None:
        self.card = card

    def to_html(self) -> str:
        """The card as one page that needs nothing but itself."""
        from benchbook.views.html import html_page

        return "".join(html_page(self._document()))

    def to_markdown(self) -> str:
        from benchbook.views.markdown import markdown_page

        return "".join(markdown_page(self._document()))

    def __str__(self) -> str:
        from benchbook.labels.judge_card import JudgeCard
        from benchbook.views.answer_card import answer_card_lines
        from benchbook.views.judges import card_lines

        card = self.card
        return "\n".join(card_lines(card) if isinstance(card, JudgeCard) else answer_card_lines(card))

    def _repr_html_(self) -> str:
        from benchbook.views.fragment import fragment

        return fragment(self._document())

    def _document(self) -> Document:
        from benchbook.labels.judge_card import JudgeCard
        from benchbook.views.answer_card import answer_card_document
        from benchbook.views.judges import card_document

        return card_document(self.card) if isinstance(self.card, JudgeCard) else answer_card_document(self.card)

    def __repr__(self) -> str:
        return f"<CalibrationCard of {self.card.run_id} by {self.card.spec}>"
