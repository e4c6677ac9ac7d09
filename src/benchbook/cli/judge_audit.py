"""`benchbook judge audit` and `benchbook judge card`: what a judge may be used for."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_run
from benchbook.cli.help import SectionedCommand
from benchbook.cli.output import find_record, json_option, print_json, runs_option
from benchbook.cli.settings import options_of
from benchbook.cli.sitting import JUDGE_SETTINGS, MOVED_SETTINGS, asking_parts, settings_given, stopped_early
from benchbook.errors import UsageError
from benchbook.evaluators.settings import LIMITS
from benchbook.text import visible

if TYPE_CHECKING:
    from benchbook.exchange.auditing_judges import AuditForecast
    from benchbook.judge_audit.folder import AuditFolder
    from benchbook.library.judge_audits import JudgeAudit

_OWN = {
    "What is tried": ("n", "variants", "margin", "confidence", "until_decided", "seed", "own_name", "other_name"),
    "Where it goes": ("audits", "audit_id", "runs"),
}
_EXAMPLES = (
    ("benchbook judge audit RUN --dry-run", "say what it would ask, and which effects it would find"),
    ("benchbook judge audit RUN", "try the run's own judge on 200 of its answers"),
    (
        "benchbook judge audit RUN --judge openai/j@2 --until-decided",
        "try another judge, and end as soon as it is told",
    ),
    ("benchbook judge audit --resume audits/AUDIT_ID", "go on where it ended"),
)

audits_option = click.option("--audits", default="audits", show_default=True, help="The folder with the audits.")
_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command("audit", cls=SectionedCommand, own=_OWN, examples=_EXAMPLES)
@click.argument("run", required=False, metavar="[RUN]", shell_complete=complete_run)
@click.option("--n", type=click.IntRange(min=1), default=200, show_default=True, help="Answers to draw; all, if fewer.")
@click.option("--variants", multiple=True, metavar="NAME", help="Try these alone; repeat. By default all.")
@click.option("--margin", type=_SHARE, default=0.05, show_default=True, help="A change of the score that is no matter.")
@click.option("--confidence", type=click.FloatRange(0.5, 1, min_open=True, max_open=True), default=0.95, help="Of all.")
@click.option("--until-decided", is_flag=True, help="Look after a quarter and half of the answers; drop what is told.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the answers.")
@click.option("--own-name", metavar="NAME", help="The name that stands for the judge's own; by default its model's.")
@click.option("--other-name", metavar="NAME", help="Another model's; by default that of the model that answered.")
@click.option("--audit-id", metavar="ID", help="The audit's name; by default the time and six hexadecimal digits.")
@audits_option
@runs_option
@options_of((*JUDGE_SETTINGS, *LIMITS))
@click.option("--dry-run", is_flag=True, help="Say what would be asked and cost, and ask nothing.")
@click.option("--resume", metavar="AUDIT", help="Go on with an audit where it ended; limits and addresses may change.")
@click.option("--quiet", is_flag=True, help="No progress, no card: only what goes wrong.")
@json_option
@click.pass_context
def audit(ctx: click.Context, /, run: str | None, **options: Any) -> None:
    """Try a judge on RUN's answers: judged again, and changed by rule in what should not matter, and in what must.

    The same answers again, longer, shorter, in another form and tone, under another name and the judge's own; with
    another item's reference; and answers that are known to be bad. RUN is a record of any kind that has answers. Its
    own judge is tried, or the one that is given. Each variant is a record of its own below audits/AUDIT_ID; the audit
    card says what the judge may be used for, and for which judge, rubric and set that holds.
    """
    if options["resume"]:
        if run is not None or options["dry_run"]:
            raise UsageError("--resume goes on with an audit, and takes its answers from there: give no RUN")
        found = _audit_named(options["resume"], options["audits"])
        changes = settings_given(options, LIMITS, MOVED_SETTINGS)
    else:
        if run is None:
            raise click.UsageError("Missing argument 'RUN', the run whose answers are judged again.")
        prepared = _prepared(run, options)
        if options["dry_run"]:
            _say_forecast(prepared.forecast, as_json=options["as_json"])
            return
        found, changes = prepared.begin(), {}
    from benchbook.exchange.auditing_judges import go_on
    from benchbook.library.judge_audits import JudgeAudit

    quiet = options["quiet"] or options["as_json"]
    result = asking_parts(found.path, lambda *how: go_on(found, changes, *how), quiet=quiet)
    if result.card is None:
        stopped_early(ctx, result.stop, f"benchbook judge audit --resume {found.path}")

    _show(JudgeAudit(found, result.card), as_json=options["as_json"], quiet=options["quiet"])


def _audit_named(name: str, audits: str) -> AuditFolder:
    from benchbook.judge_audit.folder import audit_named

    return audit_named(name, audits)


def _prepared(run: str, options: dict[str, Any]) -> Any:
    from benchbook.exchange.auditing_judges import AuditAsked, prepared_audit

    own = ("n", "seed", "variants", "margin", "confidence", "until_decided", "own_name", "other_name", "audits")
    asked = AuditAsked(audit_id=options["audit_id"], **{name: options[name] for name in own})
    return prepared_audit(find_record(run, options["runs"]), settings_given(options, JUDGE_SETTINGS, LIMITS), asked)


def _say_forecast(found: AuditForecast, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    cost = "no prices are set" if found.most_cost_usd is None else f"at most about ${found.most_cost_usd}"
    drawn = f"{found.n_answers:,} of {found.n_eligible:,} answers"
    lines = [
        *(f"judge   {one}, under {found.spec}" for one in found.judges),
        f"tried   {drawn}, in {len(found.variants)} variants: {', '.join(found.variants)}",
        *([f"        not {', '.join(found.not_tried)}: the rule fits none of them"] if found.not_tried else []),
        f"calls   {found.calls:,}, parse retries aside",
        f"cost    {cost}",
        f"finds   a change of the score by {found.effect_found:g} of its scale, with a chance of 90 %",
        "Nothing was asked.",
    ]
    click.echo("\n".join(map(visible, lines)))


@click.command("card")
@click.argument("audit", metavar="AUDIT")
@click.option(
    "--labels", metavar="DIR", help="People's labels of the same answers: how far the judge agrees with them."
)
@click.option("--html", metavar="FILE", help="Write the card as one HTML page.")
@click.option("--markdown", is_flag=True, help="Print the whole card as Markdown.")
@audits_option
@json_option
def card(audit: str, labels: str | None, html: str | None, markdown: bool, audits: str, as_json: bool) -> None:
    """Show AUDIT's card: what the judge may be used for, and what each variant did to its scores."""
    from benchbook.library.judge_audits import JudgeAudit
    from benchbook.writing import write_file

    if markdown and as_json:
        raise click.UsageError("--json and --markdown: one of them")
    found = JudgeAudit.opened(_audit_named(audit, audits), labels)
    if html is not None:
        write_file(Path(html), found.to_html().encode("utf-8"))
    if markdown:
        click.echo(found.to_markdown(), nl=False)
    else:
        _show(found, as_json=as_json, quiet=False)


def _show(found: JudgeAudit, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json(found.to_json())
    elif not quiet:
        from benchbook.views.terminal import print_document

        print_document(found.document, sys.stdout)
