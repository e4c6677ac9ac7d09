"""`benchbook comment`: a run on the change that it is for."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from benchbook.cli.completion import complete_run
from benchbook.cli.gate import measured_names
from benchbook.cli.output import find_record, json_option, print_json, run_argument, runs_option
from benchbook.cli.summary import rows_of
from benchbook.errors import UsageError
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.cli.for_people import HeldAgainstPeople
    from benchbook.integrations.forges import Posted
    from benchbook.labels.labels import LabelBook
    from benchbook.library.comparing import GateResult
    from benchbook.record.folder import Record
    from benchbook.views.comment import CommentReport

_file = click.Path(dir_okay=False, path_type=Path)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@click.command()
@run_argument
@click.option(
    "--baseline",
    metavar="RUN",
    help="Hold RUN against this one; default: `benchbook baseline set`, if any.",
    shell_complete=complete_run,
)
@click.option("--margin", type=click.FloatRange(0, 1, min_open=True), help="As for `benchbook gate`.")
@click.option("--max-regressions", type=click.IntRange(min=0), help="As for `benchbook gate`.")
@click.option("--allow-different", metavar="NAMES", help="As for `benchbook gate`.")
@click.option(
    "--labels",
    multiple=True,
    metavar="DIR",
    help="Say as people would judge, too, by the labels in this folder; repeat, for those of the baseline.",
)
@click.option("--out", type=_file, metavar="FILE", help="Write the comment there, not to standard output.")
@click.option("--post", type=click.Choice(("github", "gitlab")), help="Put it on the change that the job is for.")
@click.option("--number", type=click.IntRange(min=1), help="Of the pull or merge request, where the job does not say.")
@click.option("--name", default="benchbook", show_default=True, help="One comment of each name is kept on a change.")
@click.option("--sarif", type=_file, metavar="FILE", help="Write the lost items as SARIF 2.1.0.")
@click.option("--annotations", is_flag=True, help="Print the lost items as annotations for GitHub's log.")
@runs_option
@json_option
def comment(run: str | None, runs: str, as_json: bool, **options: Any) -> None:
    """Write RUN as a comment in Markdown: the decision, what was lost and won against the baseline, the record's hash.

    With --post it is put on the change by the forge's API, and written anew the next time. The token is GITHUB_TOKEN,
    or GITLAB_TOKEN (else CI_JOB_TOKEN). Where it may not comment, as on a fork's change, that is said, and the end is
    0 all the same: `benchbook gate` says yes or no.

    With --labels the gate and the run's own decision are said as people would judge beside it; what that turns comes
    first, in the SARIF file and among the annotations, too.
    """
    if not _NAME.fullmatch(options["name"]):
        raise click.UsageError("--name: expected letters, digits and . _ -, at most 60")
    if as_json and options["annotations"]:
        raise click.UsageError("--json and --annotations: one of them")
    from benchbook.cli.for_people import held_by_its_own
    from benchbook.labels.labels import open_labels

    record = find_record(run, runs)
    books = [open_labels(folder) for folder in options["labels"]]
    found = _held(record, runs, options, books)
    own = held_by_its_own(record, books)
    if books and own is None and (found is None or found.people is None):
        raise UsageError(f"{', '.join(options['labels'])}: labels none of the answers of {record.path}")
    if found is None and (options["sarif"] is not None or options["annotations"]):
        raise UsageError("what was lost is told against a baseline: name one with --baseline, or set one")
    from benchbook.views.comment import comment_markdown

    report = _report(record, found, own)
    markdown = comment_markdown(report, options["name"])
    written = [] if options["out"] is None else [_written(options["out"], markdown)]
    if found is not None:
        written += _lost(record, found, options["sarif"], _for_people(report), annotates=options["annotations"])
    posted = None if options["post"] is None else _post(options["post"], options["number"], markdown, options["name"])
    if as_json:
        outcome = None if found is None else found.check.outcome
        names = [str(path) for path in written]
        people = {} if not books else {"as_people_would_judge": _for_people_json(found, own)}
        said = {"run": report.run, "outcome": outcome, "posted": posted, "written": names, "comment": markdown}
        print_json(said | people)
        return
    if options["out"] is None and not options["annotations"]:
        click.echo(markdown, nl=False)
    if posted is not None:
        click.echo(visible(_said(options["post"], posted)), err=True)


def _for_people(report: CommentReport) -> list[str]:
    """The sentences on the run as people would judge, for who does not read the comment."""
    from benchbook.views.comparison import gate_for_people

    if report.people is None:
        return list(report.turned)
    return list(report.turned) or [gate_for_people(report.people)]


def _for_people_json(found: GateResult | None, own: HeldAgainstPeople | None) -> dict[str, Any]:
    by_people = None if found is None else found.people
    return {
        "outcome": None if by_people is None else by_people.check.outcome,
        "own": None if own is None else own.found,
    }


def _held(record: Record, runs: str, options: dict[str, Any], books: list[LabelBook]) -> GateResult | None:
    """The run against its baseline, as `benchbook gate` holds it; None where there is none. Labels that were drawn for
    a decision are of the run's own, and no number of items that are worse is corrected."""
    from benchbook.comparison.records import baseline_record, read_baseline
    from benchbook.library.comparing import regression_gate

    named: str | None = options["baseline"]
    baseline: Record | None = None
    if named is not None:
        baseline = find_record(named, runs)
    elif read_baseline(runs) is not None:
        baseline = baseline_record(runs)
    if baseline is None:
        return None
    return regression_gate(
        record,
        baseline,
        margin=options["margin"],
        max_regressions=options["max_regressions"],
        allow_different=measured_names(options["allow_different"]),
        labels=[one for one in books if one.started.allocation is None and options["max_regressions"] is None],
    )


def _report(record: Record, found: GateResult | None, own_by_people: HeldAgainstPeople | None) -> CommentReport:
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.views.comment import CommentReport
    from benchbook.views.views import opening_of, view_of

    evaluator = evaluator_of(record)
    with tempfile.TemporaryDirectory(prefix="benchbook-comment-") as folder:
        derived = evaluator.derive(record, Path(folder))
    view = view_of(evaluator)
    if view.opening is not None:
        own = view.opening(derived)
    else:
        own = opening_of(view.summary(view.report(record, derived, rows_of(record))))
    return CommentReport(
        run=record.run_id if found is None else found.run,
        record_sha256=derived.manifest.journal_sha256,
        own=own,
        notices=tuple(getattr(derived.aggregates, "warnings", ())),
        check=None if found is None else found.check,
        comparison=None if found is None else found.comparison,
        people=None if found is None or found.people is None else found.people.check,
        own_for_people=() if own_by_people is None else own_by_people.blocks,
        own_turned=None if own_by_people is None else own_by_people.turned,
    )


def _written(path: Path, text: str) -> Path:
    from benchbook.views.views import write_pieces

    return write_pieces(path, iter((text,)))


def _lost(record: Record, found: GateResult, sarif: Path | None, people: list[str], *, annotates: bool) -> list[Path]:
    from benchbook.views import sarif as lost

    assert found.comparison is not None  # noqa: S101 - a baseline was asked about
    root = Path(os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR") or Path.cwd())
    items = lost.lost_items(record, found.comparison, found.check, root)
    n_lost = len(found.check.regressed) + len(found.check.missing)
    if annotates:
        for line in lost.annotation_lines(items, n_lost, people):
            click.echo(line)
    return [] if sarif is None else [_written(sarif, lost.sarif_json(items, n_lost, people).decode())]


def _post(forge: Literal["github", "gitlab"], number: int | None, markdown: str, name: str) -> Posted:
    from benchbook.integrations.forges import forge_of
    from benchbook.views.comment import comment_marker

    return forge_of(forge, number).posted(markdown, comment_marker(name))


def _said(forge: str, posted: Posted) -> str:
    if posted.how == "not_allowed":
        return f"{forge}: this token may not comment here ({posted.why}); the comment stands where it was written"
    return f"{forge}: the comment was {posted.how}" + (f": {posted.url}" if posted.url else "")
