"""The API's answers about judges: panels, experiments, evaluations, and the evidence in the judged texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from types import GenericAlias
from typing import get_args, get_type_hints

import msgspec

from benchbook.evaluators.contract import LabelCriterion
from benchbook.evaluators.made import Made, made
from benchbook.evaluators.panels import PanelAnalysis, Split
from benchbook.views.protocol.pictures import JudgesWords
from benchbook.views.spans import Spans
from benchbook.views.views import MarkedSpan, TableWords
from benchbook.views.words import criterion_word


class JudgesOfRun(msgspec.Struct, frozen=True, kw_only=True):
    """An experiment with judges, in short; the whole of it is in the run's aggregates."""

    run_id: str
    spec: str
    state: str
    started_utc: str | None
    dataset_id: str | None
    judges: tuple[str, ...]
    targets: tuple[str, ...]
    n_outputs: int
    n_evaluations: int
    n_valid: int
    n_invalid: int


class ExperimentList(msgspec.Struct, frozen=True, kw_only=True):
    """Finished experiments, the newest first."""

    experiments: tuple[JudgesOfRun, ...]


class DimensionOfProtocol(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that judges score, by a whole number from `lowest` to `highest`."""

    name: str
    title: str  # the name as people read it
    lowest: int
    highest: int


class ProtocolOfRun(msgspec.Struct, frozen=True, kw_only=True):
    """The scales of an experiment's judges. The overall score is the sum of the dimensions, `lowest` to `highest`."""

    dimensions: tuple[DimensionOfProtocol, ...]
    lowest: int
    highest: int
    span: int  # how many points lie between the two


def protocol_of_run(criteria: Sequence[LabelCriterion]) -> ProtocolOfRun:
    """The scales of these criteria, by which judges score, and people may too."""
    dimensions = tuple(
        DimensionOfProtocol(
            name=one.name, title=criterion_word(one.name), lowest=min(one.scores), highest=max(one.scores)
        )
        for one in criteria
    )
    lowest, highest = sum(one.lowest for one in dimensions), sum(one.highest for one in dimensions)
    return ProtocolOfRun(dimensions=dimensions, lowest=lowest, highest=highest, span=highest - lowest)


@cache
def judges_answer(aggregates: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """aggregates.json of an experiment, with what its judges score, and what it says of them in words."""
    return msgspec.defstruct(
        "JudgesAnswer",
        [("protocol", ProtocolOfRun), ("words", JudgesWords)],
        bases=(aggregates,),
        module=__name__,
        namespace={"__doc__": "aggregates.json of an experiment, what its judges score, and that in words."},
        frozen=True,
        kw_only=True,
    )


class EvaluationSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One evaluation in a list. The identifiers are those that were asked about, never those that a reply claims."""

    sample: int
    question_id: str
    prompt_variant: str
    target_model: str
    output_id: str
    judge_model: str
    method: str
    repeat: int
    valid: bool
    flags: tuple[str, ...]
    verdict: str | None
    overall_score: int | None


class EvaluationsPage(msgspec.Struct, frozen=True, kw_only=True):
    evaluations: tuple[EvaluationSummary, ...]
    n: int
    next_cursor: str | None


class EvaluationEvidence(msgspec.Struct, frozen=True, kw_only=True):
    dimension: str | None
    quote: str | None
    reason: str | None
    located: str | None  # exact, normalised, fragments, not_found, empty (P4.1)
    spans: tuple[MarkedSpan, ...]


class EvaluationFault(msgspec.Struct, frozen=True, kw_only=True):
    flag: str
    code: str
    field: str
    message: str


class EvaluationDetail(EvaluationSummary, frozen=True, kw_only=True):
    """One evaluation, whole, with the text that the judge saw. `task` is the prompt that the target was given."""

    scores: dict[str, int | None]
    details: tuple[EvaluationFault, ...]
    evidence: tuple[EvaluationEvidence, ...]
    text: str
    task: str
    raw_reply: str
    text_sha256: str
    prompt_sha256: str | None


class PanelOfRun(Made, frozen=True, kw_only=True):
    """A panel of judges in words, in tables, in numbers and as data of pictures. Its `splits` are the first hundred of
    `n_splits`; `listSplits` has all."""

    __slots__ = ()

    lines: tuple[str, ...]
    notices: tuple[str, ...]
    judges_table: TableWords
    agreement_table: TableWords
    pictures: tuple[Spans, ...]  # each judge's score and pass rate beside the panel's
    n_splits: int
    panel: PanelAnalysis


@cache
def panel_of_run(panel: type[PanelAnalysis]) -> type[PanelOfRun]:
    """`PanelOfRun` with the type of panel that its rubric has."""
    return made(PanelOfRun, {}, {"panel": panel})


class SplitsPage(Made, frozen=True, kw_only=True):
    """Samples on which a panel's judges split: first what a person should look at first. `n` are on all pages."""

    __slots__ = ()

    splits: tuple[Split, ...]
    n: int


@cache
def splits_page(panel: type[PanelAnalysis]) -> type[SplitsPage]:
    """`SplitsPage` with the type of split that its rubric has."""
    (split,) = get_args(get_type_hints(panel)["splits"])
    return made(SplitsPage, {}, {"splits": GenericAlias(tuple, (split, ...))})
