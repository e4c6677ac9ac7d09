"""The output of a run's commands at their end: the same summary, or the same JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from benchbook.cli.output import print_json
from benchbook.errors import RecordError
from benchbook.evaluators.contract import DerivedFiles
from benchbook.evaluators.gates import Decision, RunVerdict, is_of_a_part
from benchbook.evaluators.registry import evaluator_of, samples_type
from benchbook.record.folder import Record
from benchbook.text import one_line

if TYPE_CHECKING:
    from benchbook.ask.forecast import AskedModel
    from benchbook.ask.starting import Prepared
    from benchbook.views.views import View

GatedBy = Literal["decision", "rule", "labels"]


def print_run(
    record: Record, derived: DerivedFiles, *, reports: str | None, as_json: bool, quiet: bool = False
) -> None:
    """Write the reports (into `reports`/RUN_ID, unless that is None), and print the summary."""
    if quiet and reports is None and not as_json:
        return
    from benchbook.views.terminal import print_document

    if as_json:
        print_json(reported_json(record, derived, reports=reports))
        return
    view, report = _view(record, derived)
    written = [] if reports is None else view.write(report, _reports_folder(record, reports))
    if not quiet:
        print_document(view.summary(report), sys.stdout, written=written)


def reported_json(record: Record, derived: DerivedFiles, *, reports: str | None) -> dict[str, Any]:
    """Write the reports, as `print_run` does, and return the JSON about the run, with where they are."""
    written = [] if reports is None else write_reports(record, derived, reports)
    return run_json(record, derived) | {"reports": [str(path) for path in written]}


def write_reports(record: Record, derived: DerivedFiles, reports: str) -> list[Path]:
    """Write the reports into `reports`/RUN_ID, and return their paths. Raises: RecordError."""
    view, report = _view(record, derived)
    return view.write(report, _reports_folder(record, reports))


def _view(record: Record, derived: DerivedFiles) -> tuple[View, Any]:
    from benchbook.views.views import view_of

    view = view_of(evaluator_of(record))
    return view, view.report(record, derived, rows_of(record))


def _reports_folder(record: Record, reports: str) -> Path:
    folder = Path(reports) / record.run_id
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder}: can't be written ({error.strerror})") from None
    return folder


def print_dry_run(prepared: Prepared, *, as_json: bool) -> None:
    """Print the calls that a run would make of each model, and their cost."""
    from msgspec import structs

    from benchbook.ask.roles import doubts_about
    from benchbook.text import visible

    found = prepared.forecast()
    doubts = doubts_about(prepared.roles, benchmark=prepared.benchmark)
    found = structs.replace(found, warnings=(*found.warnings, *doubts))
    if as_json:
        print_json(found)
        return
    cost = "no prices are set"
    if found.most_cost_usd is not None:
        cost = f"at most about ${found.most_cost_usd}, by four bytes a token"
    lines = [
        *found.asked_words,
        *(_model_words(one) for one in found.models),
        f"cost   {cost}",
        *(f"  ! {warning}" for warning in found.warnings),
        *(f"{what:5}  {words}" for what, words in found.outcome_words),
        f"plan   {found.plan_sha256}",
        "Nothing was asked.",
    ]
    click.echo("\n".join(map(visible, lines)))


def _model_words(one: AskedModel) -> str:
    from benchbook.text import one_line
    from benchbook.views.numbers import short_model

    whom = "model" if one.role == "candidate" else "judge" if one.name is None else f"judge  {one_line(one.name)}"
    return f"{whom}  {one_line(short_model(one.model_id))}  {one.params}"


def print_decision(record: Record, derived: DerivedFiles, *, as_json: bool, gated_by: GatedBy | None = None) -> None:
    """Print the decision alone, with its gates; for `benchbook gate`, also the basis of its exit code."""
    if as_json:
        print_json(run_json(record, derived) | ({} if gated_by is None else {"gated_by": gated_by}))
        return
    print_run(record, derived, reports=None, as_json=False)
    if gated_by is not None:
        say_gated_by(derived.decision, gated_by)


def say_gated_by(decision: Decision | RunVerdict | None, gated_by: GatedBy) -> None:
    """Say that the exit code goes by the rule, where it does."""
    if gated_by == "rule" and decision is not None:
        holds = "holds" if passes_gate(decision, by_rule=True) else "does not hold"
        click.echo(f"Gated by the rubric's rule, the values alone (--by-rule): it {holds}.")


def say_why_not(record: Record, decision: Decision | RunVerdict | None) -> None:
    """Say on one line why a run does not pass its gate."""
    why = ": ".join((decision.decision, *decision.reasons[:1])) if isinstance(decision, Decision) else "no decision"
    click.echo(one_line(f"benchbook: {record.path}: {why}"), err=True)


def passes_gate(decision: Decision | RunVerdict | None, *, by_rule: bool) -> bool:
    """True if READY, or with `by_rule` if release-ready by the values alone (R6.4), those of a whole run."""
    if not isinstance(decision, Decision):  # refused, or of a dry run
        return False
    if not by_rule:
        return decision.decision == "READY"
    return decision.release_ready and not (isinstance(decision.caps, tuple) and is_of_a_part(decision.caps))


def run_json(record: Record, derived: DerivedFiles) -> dict[str, Any]:
    """A run for programs: the three derived files under their names."""
    return {
        "run": str(record.path),
        "manifest": derived.manifest,
        "aggregates": derived.aggregates,
        "decision": derived.decision,
    }


def rows_of(record: Record) -> Callable[[], Iterator[Any]]:
    """A function that starts a pass over a record's rows each time it is called."""
    from benchbook.record.tables import read_rows

    row_type = samples_type(record)
    return lambda: read_rows(record.samples, row_type)
