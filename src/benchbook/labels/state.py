"""The state of a journal of labels: the labels that stand, the turn of each person, and the gold. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchbook.record.facts import Label, LabelField, LabelRound, LabelScale, LabelsStarted

# The criteria of rubric@v1, and what people were asked in records that name none.
FIELDS: tuple[LabelField, ...] = ("accuracy_score", "faithfulness_score")
SCORES: tuple[Literal[0, 1, 2], ...] = (0, 1, 2)
LABELLERS_A_SAMPLE = 2
MAX_NAME = 100  # characters of a labeller's name

GoldOrigin = Literal["single", "agreed", "adjudicated", "disputed", "none"]


def criteria_of(started: LabelsStarted) -> tuple[LabelScale, ...]:
    """The criteria that people label each sample by, in the order in which they are asked."""
    return tuple(started.criteria) or tuple(LabelScale(name=name, scores=SCORES) for name in FIELDS)


def _is_scale(one: LabelScale) -> bool:
    return bool(one.scores) and len(one.grades) in (0, len(one.scores))


@dataclass(frozen=True, slots=True)
class Given:
    """A label that somebody gives; whether it may stand is for `LabelState.refusal` to say.

    Without a score it says that the criterion does not apply.
    """

    sample: int
    labeller: str
    field: str  # a criterion's name
    score: int | None
    note: str = ""
    adjudicates: bool = False


NOT_APPLYING = "does not apply"  # in place of a score, where a criterion may not apply


def said_words(score: int | None) -> str:
    """A label's score in words."""
    return NOT_APPLYING if score is None else str(score)


def scores_words(scores: Sequence[int]) -> str:
    """Scores in words: `0, 1 or 2`."""
    *others, last = map(str, scores)
    return f"{', '.join(others)} or {last}" if others else last


@dataclass(frozen=True, slots=True)
class Gold:
    """The outcome of people's labels of one field of a sample.

    `score` is None where nobody gave one, where two differ and it is open, and where the criterion does not apply.
    """

    score: int | None
    origin: GoldOrigin

    @property
    def is_settled(self) -> bool:
        """True if people say one thing: a score, or that the criterion does not apply."""
        return self.origin not in ("none", "disputed")


@dataclass(slots=True)
class LabelState:
    """The labels that stand, by sample and criterion. Facts are added in the journal's order.

    Raises: ValueError for a first fact whose criteria can't be asked.
    """

    started: LabelsStarted
    samples: frozenset[int] = field(init=False)
    criteria: Mapping[str, LabelScale] = field(init=False)  # by name, in the order in which they are asked
    _standing: dict[tuple[int, str], list[Label]] = field(default_factory=dict)
    _by_seq: dict[int, Label] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.samples = frozenset(self.started.samples)
        asked = criteria_of(self.started)
        self.criteria = {one.name: one for one in asked}
        if len(self.criteria) < len(asked) or not all(map(_is_scale, asked)):
            raise ValueError("criteria that can't be asked; expected names that differ, each with its scores")

    def add(self, label: Label) -> None:
        """Count a fact of the journal.

        Raises: ValueError for one that can't be: of another run, an unknown sample, criterion or score, or one that
            undoes a label that is not there.
        """
        if label.run_sha256 != self.started.run_sha256 or label.sample not in self.samples:
            raise ValueError(f"a label of sample {label.sample}, which was not drawn from this run")
        if label.undoes is not None:
            undone = self._by_seq.pop(label.undoes, None)
            if undone is None or (undone.labeller, undone.sample, undone.field) != (
                label.labeller,
                label.sample,
                label.field,
            ):
                raise ValueError(f"takes back fact {label.undoes}, which is no standing label of {label.labeller!r}")
            self._standing[undone.sample, undone.field].remove(undone)
            return
        if (refusal := self._off_scale(label.field, label.score)) is not None:
            raise ValueError(refusal)
        self._standing.setdefault((label.sample, label.field), []).append(label)
        self._by_seq[label.seq] = label

    def _off_scale(self, field: str, score: int | None) -> str | None:
        scale = self.criteria.get(field)
        if scale is None:
            return f"{field!r} is not asked here; expected {' or '.join(self.criteria)}"
        if score is None:
            return None if scale.may_not_apply else f"{field}: a label without a score, and it applies to every answer"
        return None if score in scale.scores else f"{field}: found {score}; expected {scores_words(scale.scores)}"

    @property
    def labellers(self) -> list[str]:
        """The people whose labels stand, adjudications aside, in the order of their first one."""
        return list(dict.fromkeys(one.labeller for one in self.labels() if one.round != "adjudicated"))

    @property
    def has_labels(self) -> bool:
        """True if any label stands."""
        return bool(self._by_seq)

    def labels(self) -> Iterator[Label]:
        """The labels that stand, in the journal's order."""
        yield from self._by_seq.values()

    def opinions(self, sample: int, field: str) -> list[Label]:
        """The labels that people gave independently of each other."""
        return [one for one in self._standing.get((sample, field), ()) if one.round != "adjudicated"]

    def score_by(self, labeller: str, sample: int, field: str, *, adjudicated: bool = False) -> Label | None:
        """This person's label, if there is one."""
        for one in self._standing.get((sample, field), ()):
            if one.labeller == labeller and (one.round == "adjudicated") == adjudicated:
                return one
        return None

    def last_by(self, labeller: str, *, adjudicated: bool = False) -> Label | None:
        """The label that an undo takes back."""
        mine = [
            one for one in self.labels() if one.labeller == labeller and (one.round == "adjudicated") == adjudicated
        ]
        return mine[-1] if mine else None

    def gold(self, sample: int, field: str) -> Gold:
        """The adjudicated score, the one agreed on, or one person's; None where two people differ."""
        standing = self._standing.get((sample, field), [])
        settled = [one for one in standing if one.round == "adjudicated"]
        scores = {one.score for one in standing if one.round != "adjudicated"}
        if settled:
            return Gold(settled[-1].score, "adjudicated")
        if not scores:
            return Gold(None, "none")
        if len(scores) > 1:
            return Gold(None, "disputed")
        return Gold(scores.pop(), "single" if len(standing) == 1 else "agreed")

    def disputed(self, field: str) -> list[int]:
        """The samples on which two people differ and that nobody has settled, in the order in which they are shown."""
        return [sample for sample in self.started.samples if self.gold(sample, field).origin == "disputed"]

    def open_fields(self, sample: int, labeller: str) -> list[str]:
        """The criteria by which this person may still label a sample."""
        return [
            one
            for one in self.criteria
            if self.score_by(labeller, sample, one) is None and len(self.opinions(sample, one)) < LABELLERS_A_SAMPLE
        ]

    def refusal(self, given: Given) -> str | None:
        """The reason why this label may not stand; None where it may."""
        opinions = self.opinions(given.sample, given.field)
        if given.sample not in self.samples:
            return f"sample {given.sample} was not drawn"
        if (refusal := self._off_scale(given.field, given.score)) is not None:
            return refusal
        if (
            mine := self.score_by(given.labeller, given.sample, given.field, adjudicated=given.adjudicates)
        ) is not None:
            return (
                f"{given.labeller} has labelled sample {given.sample} {given.field} {said_words(mine.score)} already; "
                "undo it first"
            )
        if given.adjudicates:
            disputed = self.gold(given.sample, given.field).origin == "disputed"
            return None if disputed else f"sample {given.sample} {given.field} is not in dispute"
        if len(opinions) >= LABELLERS_A_SAMPLE:
            names = " and ".join(one.labeller for one in opinions)
            return f"sample {given.sample} {given.field} has two labels already, by {names}"
        return None

    def round_of(self, given: Given) -> LabelRound:
        """The round of a label that may stand."""
        if given.adjudicates:
            return "adjudicated"
        return "second" if self.opinions(given.sample, given.field) else "first"
