"""What an experiment says: its plans side by side, and the runs of a plan that was run more than once (SPEC R7.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchbook.canonical import canonical_json
from benchbook.comparison.experiment import ExperimentPlan, NamedExperiment
from benchbook.evaluators.document import (
    Block,
    Cell,
    Column,
    Document,
    Listed,
    Paragraph,
    Section,
    Span,
    Table,
    Title,
    Value,
)
from benchbook.text import one_line, shorten
from benchbook.views import numbers
from benchbook.views.html import html_page
from benchbook.views.markdown import markdown_page
from benchbook.views.words import aggregate_word, plural

__all__ = ["experiment_document", "experiment_html", "experiment_markdown"]


_SETTING = 40  # characters of a setting's value


def experiment_html(found: NamedExperiment) -> Iterator[str]:
    """The page, in pieces."""
    return html_page(experiment_document(found))


def experiment_markdown(found: NamedExperiment) -> Iterator[str]:
    """The same in Markdown."""
    return markdown_page(experiment_document(found))


def experiment_document(found: NamedExperiment) -> Document:
    """Each plan for itself, then what was left out and why."""
    blocks: list[Block] = [Title((found.experiment,))]
    if len(found.plans) > 1:
        note = f"{len(found.plans)} plans name this experiment; runs of different plans are not averaged."
        blocks.append(Section("plans", "Plans", (Paragraph(note), *_plan_tables(found.plans))))
    for number, plan in enumerate(found.plans, 1):
        if len(plan.runs) > 1 or len(found.plans) == 1:
            blocks.append(Section(f"plan-{number}", _called(plan), tuple(_runs(plan))))
    if found.left_out:
        left_out = tuple(f"left out: {shorten(one.run, 60)}: {one_line(one.reason)}" for one in found.left_out)
        blocks.append(Section("left-out", "Left out", (Listed(left_out),)))
    foot = "Scores are rounded for reading; `--json` has them to nine decimals."
    return Document(found.experiment, "experiment", blocks, foot)


def _called(plan: ExperimentPlan) -> str:
    return f"{plural(len(plan.runs), 'run')} of plan {numbers.short_hash(plan.plan_sha256)}"


def _plan_tables(plans: Sequence[ExperimentPlan]) -> Iterator[Table]:
    """A table for each evaluator: numbers of different ones do not stand below one another."""
    for spec in dict.fromkeys(plan.spec for plan in plans):
        yield _plan_table(spec, [plan for plan in plans if plan.spec == spec])


def _plan_table(spec: str, plans: Sequence[ExperimentPlan]) -> Table:
    settings = tuple(plans[0].settings)
    words = [aggregate_word(one.aggregate) for one in plans[0].summaries]
    columns = [
        Column("Run"),
        *(Column(name) for name in settings),
        *(Column(word.label, "number") for word in words),
        Column("Interval", "number"),
        Column("Decision"),
    ]
    rows = tuple(
        [
            plan.runs[0] if len(plan.runs) == 1 else f"{plural(len(plan.runs), 'run')}, {plan.runs[0]} first",
            *(_setting(plan.settings[name]) for name in settings),
            *(Value(word.kind, one.mean) for word, one in zip(words, plan.summaries, strict=True)),
            _interval(plan),
            _decisions(plan),
        ]
        for plan in plans
    )
    return Table(spec, tuple(columns), rows)


def _setting(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else canonical_json(value).decode()
    text = one_line(text)
    return text if len(text) <= _SETTING else f"…{text[1 - _SETTING :]}"  # a file is told by the end of its path


def _interval(plan: ExperimentPlan) -> Cell:
    """That of the first number; several runs have none of their own."""
    found = plan.intervals[0] if len(plan.runs) == 1 else None
    if found is None:
        return None
    kind = aggregate_word(plan.summaries[0].aggregate).kind
    return Span(Value(kind, found[0]), Value(kind, found[1]))


def _decisions(plan: ExperimentPlan) -> str | None:
    """What was decided, each as often as it was."""
    decided = [one for one in plan.decisions if one is not None]
    if len(plan.runs) == 1:
        return decided[0] if decided else None
    return ", ".join(f"{decided.count(one)} {one}" for one in dict.fromkeys(decided)) or None


def _runs(plan: ExperimentPlan) -> Iterator[Block]:
    found = [(aggregate_word(one.aggregate), one) for one in plan.summaries]
    rows: list[Sequence[Cell]] = [
        [run, *(Value(word.kind, one.per_repeat[n]) for word, one in found), plan.decisions[n]]
        for n, run in enumerate(plan.runs)
    ]
    rows += [
        ["Mean", *(Value(word.kind, one.mean) for word, one in found), ""],
        ["SD", *(Value(word.kind, one.sd) for word, one in found), ""],
    ]
    columns = (Column("Run"), *(Column(word.label, "number") for word, _ in found), Column("Decision"))
    yield Table(f"{_called(plan)}, {numbers.short_model(plan.model_id)}", columns, tuple(rows))
    if len(plan.runs) == 1:
        yield Paragraph("A single run has no standard deviation.", "quiet")
