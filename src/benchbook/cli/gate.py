"""`benchbook gate`."""

from __future__ import annotations

import tempfile
from decimal import Decimal, InvalidOperation
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_run
from benchbook.cli.output import (
    asked_confidence,
    by_rule_option,
    find_record,
    json_option,
    print_json,
    run_argument,
    runs_option,
)
from benchbook.cli.summary import passes_gate, print_decision, run_json
from benchbook.errors import NoReleaseGatesError

if TYPE_CHECKING:
    from benchbook.evaluators.contract import Confidence, DerivedFiles
    from benchbook.evaluators.measured import Measured
    from benchbook.library.comparing import GateResult
    from benchbook.record.folder import Record


@click.command()
@run_argument
@click.option(
    "--confidence",
    callback=asked_confidence,
    metavar="NUMBER",
    help="Decide by what is shown at this confidence; none: by the values alone. Default: as the run was configured.",
)
@by_rule_option
@click.option(
    "--labels",
    multiple=True,
    metavar="DIR",
    help="Decide as people would judge, by the labels in this folder; repeat with --baseline, for the labels of both.",
)
@click.option(
    "--baseline",
    metavar="RUN",
    help="Hold RUN against this one; default: `benchbook baseline set`.",
    shell_complete=complete_run,
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True),
    help="How much worse than the baseline the score may be: by default 0.05, five points of a score from 0 to 1.",
)
@click.option(
    "--max-regressions", type=click.IntRange(min=0), help="Instead of a margin: how many items may be worse, such as 0."
)
@click.option("--allow-undecided", is_flag=True, default=None, help="End with 0 where too few items tell, too.")
@click.option("--min-score", metavar="NUMBER", help="Ask for this mean score at least, such as 0.6.")
@click.option(
    "--allow-different",
    metavar="NAMES",
    help="What may differ from the baseline: evalset, prompt_template, generation_params, spec, judge.",
)
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write a test case an item."
)
@runs_option
@json_option
@click.pass_context
def gate(
    ctx: click.Context,
    /,
    run: str | None,
    confidence: Confidence | None,
    by_rule: bool,
    labels: tuple[str, ...],
    runs: str,
    as_json: bool,
    **regressions: Any,
) -> None:
    """Exit 0 only if RUN is READY; 1 where it is not, or where nothing can be said. With --by-rule, exit 0 if the
    rubric's rule holds by the values alone, whatever the decision. With --labels, exit 0 only if RUN is READY as people
    would judge; both decisions are shown.

    With --baseline, --margin, --max-regressions or --min-score it asks these instead of the release gates: is it shown
    that RUN is not worse than the baseline by more than a margin, and is it good enough? It then ends with 1 where RUN
    is worse, 3 where RUN is not complete, and 4 where its items can't tell. Where RUN's evaluator has no release gates
    and a baseline is set, it asks this without these options, too. With --labels the margin is held against the
    difference as people would judge, and the end goes by that.

    All is derived again from the journals: a file that was edited changes nothing.
    """
    record = find_record(run, runs)
    if any(value is not None for value in regressions.values()):
        if confidence is not None or by_rule:
            option = "--by-rule" if by_rule else "--confidence"
            raise click.UsageError(f"{option} is about the release gates: leave it out, or --baseline and its kin")
        ctx.exit(_gate_regressions(record, runs, as_json, labels, **regressions))
    if labels and (by_rule or confidence == "none"):
        option = "--by-rule" if by_rule else "--confidence none"
        raise click.UsageError(f"{option} is by the values alone, and what labels correct has intervals")
    try:
        derived = _released(record, confidence)
    except NoReleaseGatesError:
        if confidence is not None or by_rule or not _has_baseline(runs):
            raise
        ctx.exit(_gate_regressions(record, runs, as_json, labels, **regressions))
    if labels:
        ctx.exit(_gate_by_labels(record, derived, labels, confidence, as_json=as_json))
    print_decision(record, derived, as_json=as_json, gated_by="rule" if by_rule else "decision")
    ctx.exit(0 if passes_gate(derived.decision, by_rule=by_rule) else 1)


def _released(record: Record, confidence: Confidence | None) -> DerivedFiles:
    from benchbook.evaluators.registry import evaluator_of

    with tempfile.TemporaryDirectory(prefix="benchbook-gate-") as folder:
        return evaluator_of(record).gated(record, Path(folder), confidence)


def _gate_by_labels(
    record: Record, derived: DerivedFiles, labels: tuple[str, ...], confidence: Confidence | None, *, as_json: bool
) -> int:
    """Show the decision as judged, and as people would judge; 0 if that is READY."""
    from benchbook.labels.judge_card import judge_card
    from benchbook.labels.labels import open_labels
    from benchbook.text import visible
    from benchbook.views.judges import gated_by_people_lines, turned_decision

    if len(labels) > 1:
        raise click.UsageError("--labels: found several; of the release gates, one folder decides")
    sure = float(confidence) if isinstance(confidence, float) else 0.95
    card = judge_card(record, open_labels(labels[0]), confidence=sure)
    decision = card.calibration.corrected_decision
    if as_json:
        print_json(run_json(record, derived) | {"as_people_would_judge": decision, "gated_by": "labels"})
    else:
        if (turned := turned_decision(card)) is not None:
            click.echo(visible(f"  ! {turned}"))
        print_decision(record, derived, as_json=False)
        click.echo("\nGated by what people would judge (--labels).")
        for line in gated_by_people_lines(card):
            click.echo(visible(line))
    return int(decision is None or decision.decision != "READY")


def _has_baseline(runs: str) -> bool:
    from benchbook.comparison.records import read_baseline

    return read_baseline(runs) is not None


def _gate_regressions(
    record: Record,
    runs: str,
    as_json: bool,
    labels: tuple[str, ...],
    *,
    baseline: str | None,
    margin: float | None,
    max_regressions: int | None,
    allow_undecided: bool | None,
    min_score: str | None,
    allow_different: str | None,
    junit: Path | None,
) -> int:
    from benchbook.labels.labels import open_labels
    from benchbook.library.comparing import regression_gate

    if labels and (max_regressions is not None or min_score is not None):
        option = "--max-regressions" if max_regressions is not None else "--min-score"
        raise click.UsageError(
            f"{option} goes by the scores as judged; --labels corrects what a margin is held against"
        )
    against = (baseline, margin, max_regressions, allow_undecided, allow_different, junit)
    is_alone = min_score is not None and all(one is None for one in against)
    found = regression_gate(
        record,
        None if is_alone else _baseline(baseline, runs),
        margin=margin,
        max_regressions=max_regressions,
        min_score=None if min_score is None else _score(min_score),
        allow_different=measured_names(allow_different),
        labels=[open_labels(folder) for folder in labels],
    )
    if junit is not None and found.comparison is not None:
        from benchbook.views.junit import regressions_junit
        from benchbook.views.views import write_pieces

        people = None if found.people is None else found.people.check
        write_pieces(junit, regressions_junit(found.comparison, found.check, people))
    _print(found, as_json)
    return 0 if allow_undecided and found.outcome == "undecided" else found.exit_code


def _baseline(name: str | None, runs: str) -> Record:
    from benchbook.comparison.records import baseline_record

    return baseline_record(runs) if name is None else find_record(name, runs)


def _score(text: str) -> Decimal:
    try:
        score = Decimal(text)
        is_fit = 0 <= score <= 1
    except InvalidOperation:  # no number, or NaN
        is_fit = False
    if not is_fit:
        raise click.UsageError(f"--min-score {text!r}: expected a number from 0 to 1, such as 0.6")
    return score


def measured_names(names: str | None) -> tuple[Measured, ...]:
    """The names in `--allow-different`. Raises: click.UsageError."""
    from benchbook.evaluators.measured import MEASURED

    asked = [name.strip() for name in (names or "").split(",") if name.strip()]
    if unknown := [name for name in asked if name not in MEASURED]:
        raise click.UsageError(f"--allow-different {unknown[0]!r}: expected some of {', '.join(MEASURED)}")
    return tuple(name for name in MEASURED if name in asked)


def _print(found: GateResult, as_json: bool) -> None:
    from benchbook.views.comparison import gate_for_people_lines, gate_lines, turned_gate

    if as_json:
        pair, people = found.comparison, found.people
        by_people = {} if pair is None or people is None else {
            "as_people_would_judge": {
                "gate": people.check, "not_worse": people.not_worse, "differences": pair.corrected,
            },
            "gated_by": "labels",
        }  # fmt: skip
        print_json(
            {
                "run": found.run,
                "score": found.score,
                "gate": found.check,
                "baseline": None if pair is None else pair.a.name,
                "classes": None if pair is None else pair.counts,
                "score_difference": None if pair is None else pair.score,
                "unanswered": None if pair is None else {"baseline": pair.a.unanswered, "run": pair.b.unanswered},
                "exit_code": found.exit_code,
            }
            | by_people
        )
        return
    if found.comparison is None or found.people is None:
        lines = gate_lines(found.run, found.score, found.check, found.comparison)
    else:
        lines = chain(
            (f"  ! {words}" for words in turned_gate(found.comparison, found.check, found.people.check)),
            gate_lines(found.run, found.score, found.check, found.comparison),
            ("", "Gated by what people would judge (--labels)."),
            gate_for_people_lines(found.comparison, found.people.check),
        )
    for line in lines:
        click.echo(line)
