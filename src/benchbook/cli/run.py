"""`benchbook run`."""

from __future__ import annotations

from typing import Any

import click

from benchbook.cli.output import by_rule_option, find_record, json_option
from benchbook.cli.progress import resume_shown, say_stopped, start_shown
from benchbook.cli.settings import given_settings, move_judge_option, setting_options
from benchbook.cli.summary import passes_gate, print_dry_run, print_run, say_gated_by
from benchbook.errors import UsageError

__all__ = ["run"]


@click.command()
@click.argument("config", required=False, metavar="[CONFIG.toml]")
@setting_options
@click.option("--resume", metavar="RUN", help="Go on with a record where it ended; limits and addresses may change.")
@move_judge_option
@click.option("--dry-run", is_flag=True, help="Check everything, say what would be asked and cost, and ask nothing.")
@click.option("--gate", is_flag=True, help="Exit 0 only if the run is READY, as `benchbook gate` does.")
@by_rule_option
@click.option("--quiet", is_flag=True, help="No progress, no summary: only what goes wrong.")
@json_option
@click.pass_context
def run(ctx: click.Context, /, config: str | None, **options: Any) -> None:
    """Ask a model the items of an eval set, have its answers judged under rubric@v1, and decide.

    Settings come from CONFIG.toml (start one with `benchbook init`) and from options of the same names, which win.
    The record goes to runs/RUN_ID. Ctrl-C finishes what is under way; a second one ends at once; both resume.
    Exits 0 for a whole run in which an answer was scored, whatever the decision.
    """
    settings = given_settings(options)
    if options["by_rule"] and not options["gate"]:
        raise UsageError("--by-rule says what --gate goes by: give both")
    if options["resume"] and options["dry_run"]:
        raise UsageError("--dry-run looks at a new run; for how far a record is, `benchbook show RUN`")
    if options["move_judge"] and not options["resume"]:
        raise UsageError("--move-judge: only with --resume; a new run takes addresses from its settings")
    if options["resume"]:
        result = _resume(options["resume"], config, settings, options)
    else:
        result = _start(ctx, config, settings, options)
    reports = result.record.started().config.get("reports") if "reports" not in settings else settings["reports"]
    print_run(result.record, result.derived, reports=reports, as_json=options["as_json"], quiet=options["quiet"])
    if options["by_rule"] and not (options["as_json"] or options["quiet"]):
        say_gated_by(result.derived.decision, "rule")
    say_stopped(result, "run")
    ctx.exit(_exit_code(result, gate=options["gate"], by_rule=options["by_rule"]))


def _start(ctx: click.Context, config: str | None, settings: dict[str, Any], options: dict[str, Any]) -> Any:
    from benchbook.evaluators.registry import settings_asked_for

    evaluator, checked = settings_asked_for(config, settings, command="run")
    if options["gate"] and getattr(checked, "against", None) is not None:
        raise UsageError("--gate asks whether the run is READY, which one that ends by its comparison does not ask")
    if options["dry_run"]:
        print_dry_run(evaluator.prepare(checked), as_json=options["as_json"])
        ctx.exit(0)
    return start_shown(checked, config, quiet=options["quiet"] or options["as_json"], evaluator=evaluator)


def _resume(run: str, config: str | None, settings: dict[str, Any], options: dict[str, Any]) -> Any:
    from benchbook.ask.settings import moved_judges

    if config is not None:
        raise UsageError("--resume takes its settings from the record; give no CONFIG.toml")
    record = find_record(run, settings.pop("runs", "runs"))
    if options["move_judge"]:
        settings["judges"] = moved_judges(record.started().config.get("judges"), options["move_judge"])
    return resume_shown(record, settings, "run", quiet=options["quiet"] or options["as_json"])


def _exit_code(result: Any, *, gate: bool, by_rule: bool) -> int:
    if result.stop.reason is not None:
        return 3
    decision = result.derived.decision
    if gate:
        return 0 if passes_gate(decision, by_rule=by_rule) else 1
    ledger = result.derived.aggregates.ledger
    # Samples without an answer are scored 0 by rule (R1.3): a server that is down is no evaluation.
    return 0 if decision is not None and ledger.n_scored > ledger.n_no_answer else 1
