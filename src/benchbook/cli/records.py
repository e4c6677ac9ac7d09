"""`benchbook runs`, `show`, `verify` and `rescore`: the records, and their verification."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.output import (
    find_record,
    json_option,
    print_json,
    run_argument,
    runs_option,
    terminal_width,
)
from benchbook.cli.run_list import Archived, ListedRun, Order, in_order, listed_runs, run_lines
from benchbook.cli.show_samples import print_all, print_csv, print_failed, print_samples, refuse_without_samples
from benchbook.errors import UsageError
from benchbook.record.folder import Record, is_of_labels
from benchbook.text import one_line, plural, visible

if TYPE_CHECKING:
    from benchbook.evaluators.signing import SignedBy
    from benchbook.evaluators.verify import Verification


@click.command()
@click.option(
    "--sort", type=click.Choice(("newest", "score", "run")), default="newest", show_default=True, help="The order."
)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only runs with this tag; may be given again.")
@click.option(
    "--text", default="", metavar="WORDS", help="Only runs that have each word in their id, names, note or tags."
)
@click.option(
    "--archived", type=click.Choice(("no", "only", "any")), default="no", show_default=True, help="Archived runs."
)
@runs_option
@json_option
def runs(sort: Order, tags: tuple[str, ...], text: str, archived: Archived, runs: str, as_json: bool) -> None:
    """List the records in a folder: what was decided, the score with its interval, when, and who was asked what.

    Names that don't fit the terminal are cut in their middle; --json has them whole. What `benchbook mark` wrote on a
    run stands below it.
    """
    if Path(runs).exists() and not Path(runs).is_dir():
        raise UsageError(f"{runs}: not a folder; expected the one with the records")
    found = in_order(listed_runs(runs), sort)
    rows = [row for row in found if row.fits(tags, text, archived)]
    if as_json:
        print_json(rows)
        return
    if not rows:
        click.echo(f"{runs}: {'no records' if not found else 'no record fits'}", err=True)
    else:
        _print_runs(rows)
    if archived == "no" and (n := sum(row.fits(tags, text, "only") for row in found)):
        click.echo(f"{plural(n, 'archived run')} left out; --archived any lists all", err=True)


def _print_runs(rows: Sequence[ListedRun]) -> None:
    from benchbook.views.terminal import encodable

    for line in run_lines(rows, terminal_width(120)):
        click.echo(encodable(line, sys.stdout.encoding))
    for row in rows:
        for words in (row.error, row.misnamed):
            if isinstance(words, str):
                click.echo(f"! {one_line(row.run)}: {one_line(words)}")


@click.command()
@run_argument
@click.option("--sample", metavar="ID", help="One sample in full, by its item's id (all repeats) or its own number.")
@click.option("--repeat", type=click.IntRange(min=0), help="With --sample: this repeat of the item alone, from 0.")
@click.option("--failed", is_flag=True, help="A line for each sample that did not pass.")
@click.option("--samples", is_flag=True, help="A line for each sample, with how its prompt and its answer begin.")
@click.option("--csv", "as_csv", is_flag=True, help="All samples as CSV, with prompt, context and expected answer.")
@click.option("--labels", metavar="DIR", help="Say as people would judge, too, by the labels in this folder.")
@runs_option
@json_option
def show(
    run: str | None,
    sample: str | None,
    repeat: int | None,
    failed: bool,
    samples: bool,
    as_csv: bool,
    labels: str | None,
    runs: str,
    as_json: bool,
) -> None:
    """Show RUN's decision, gates and ledger; or its samples, one of them with every raw reply.

    With --labels the decision is given as people would judge, too; where they would decide otherwise, that comes first.
    """
    asked = {"--sample": sample is not None, "--failed": failed, "--samples": samples, "--csv": as_csv}
    given = [name for name, is_given in asked.items() if is_given]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)}: one of them")
    if repeat is not None and sample is None:
        raise click.UsageError("--repeat: is of an item; name it with --sample")
    if as_csv and as_json:
        raise click.UsageError("--csv and --json: one of them")
    if labels is not None and given:
        raise click.UsageError(f"--labels, {given[0]}: one of them; labels are held against the run as a whole")
    record = find_record(run, runs)
    if not given:
        _show_run(record, labels, as_json)
        return
    refuse_without_samples(record)
    if sample is not None:
        print_samples(record, sample, repeat, as_json=as_json)
    elif failed:
        print_failed(record, as_json=as_json)
    elif samples:
        print_all(record, as_json=as_json)
    else:
        print_csv(record)


def _show_run(record: Any, labels: str | None, as_json: bool) -> None:
    """Print the derived files as they are on disk; `verify` checks them, `gate` derives them anew."""
    from benchbook.cli.for_people import held_against
    from benchbook.cli.summary import print_decision, run_json
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.labels.labels import open_labels

    people = None if labels is None else held_against(record, open_labels(labels))
    derived = evaluator_of(record).read(record)
    if as_json:
        print_json(run_json(record, derived) | ({} if people is None else {"as_people_would_judge": people.found}))
        return
    if people is not None and people.turned is not None:
        click.echo(visible(f"  ! {people.turned}"))
    print_decision(record, derived, as_json=False)
    for line in () if people is None else ("", *people.lines):
        click.echo(visible(line))


@click.command()
@run_argument
@click.option("--expect", metavar="HASH", help="The hash that was published for this record.")
@click.option("--against", metavar="RUN", help="Of labels: the run that they name, if it is not among the records.")
@click.option(
    "--proof", metavar="FILE", help="Hold this proof of a sample against --expect, or RUN's root; compute nothing."
)
@click.option(
    "--signed-by",
    metavar="FILE|IDENTITY",
    help="Allowed signers, as OpenSSH has them: one of them must have signed. With --issuer: an identity of Sigstore.",
)
@click.option(
    "--issuer", metavar="URL", help="Who knows that identity; its bundles must hold, by cached roots of trust."
)
@click.option("--trust-config", metavar="FILE", help="The roots of trust, if not those of Sigstore's public instance.")
@click.option(
    "--facts", metavar="FILE", help="Lines of the journal, to be held against --proof, or against a redacted copy."
)
@runs_option
@json_option
@click.pass_context
def verify(
    ctx: click.Context,
    run: str | None,
    expect: str | None,
    against: str | None,
    proof: str | None,
    facts: str | None,
    signed_by: str | None,
    issuer: str | None,
    trust_config: str | None,
    runs: str,
    as_json: bool,
) -> None:
    """Re-derive everything in RUN from its journal, offline, and name every byte that was changed.

    RUN is a record's folder or its id, of a run or of people's labels, or the folder of an audit of a judge; by default
    the newest run. Ends with 1 where something does not hold.
    """
    from benchbook.cli.signing import check_signer_options, signer_lines, signers_json, who_signed

    check_signer_options(signed_by, issuer, trust_config)
    if proof is not None:
        from benchbook.cli.shards import verify_proof

        ctx.exit(verify_proof(proof, facts, run, expect, runs, as_json=as_json))
    path, what, result = _verified(run, expect, against, runs, facts)
    signers: SignedBy | None = None
    if signed_by is not None and result.holds:
        signers = who_signed(path, result.sha256, signed_by, issuer, trust_config)
    all_signed = signers is None or all(signers.names.values())
    if as_json:
        findings = [{"file": one.file, "line": one.line, "what": one.what} for one in result.findings]
        said = {
            "run": str(path),
            "holds": result.holds,
            "sha256": result.sha256,
            "facts": result.n_facts,
            "state": result.state,
            "findings": findings,
        }
        said |= {} if result.not_computed is None else {"not_computed": result.not_computed}
        said |= {} if signers is None else signers_json(signers)
        print_json(said | ({"notes": result.notes} if result.notes else {}))
    elif result.holds:
        click.echo(visible(f"{path}: verified. {result.n_facts} facts, {what}"))
        click.echo(f"record hash: {result.sha256}")
        if result.not_computed is not None:
            click.echo(visible(f"{result.not_computed}."))
        for note in result.notes:
            click.echo(visible(f"note: {note}"))
        for line in () if signers is None else signer_lines(signers, signed_by or ""):
            click.echo(visible(line))
    else:
        for finding in result.findings:
            click.echo(visible(str(finding)))
        count = plural(len(result.findings), "finding")
        click.echo(f"{path}: does not hold ({count})", err=True)
    ctx.exit(0 if result.holds and all_signed else 1)


def _verified(
    run: str | None, expect: str | None, against: str | None, runs: str, facts: str | None
) -> tuple[Path, str, Verification]:
    """The folder that is meant, what it is in words, and how it was verified."""
    from benchbook.exchange.redaction import is_redacted
    from benchbook.judge_audit.folder import is_audit, open_audit
    from benchbook.labels.pairs.folder import is_pairs, open_pairs
    from benchbook.labels.verify import verify_record
    from benchbook.views.progress import shown_verification
    from benchbook.views.words import state_words

    if run is not None and is_redacted(run):
        from benchbook.exchange.verifying_redactions import verify_redacted

        lines = None if facts is None else Path(facts)
        return Path(run), "without its texts", verify_redacted(Path(run), expect=expect, facts=lines)
    if facts is not None:
        raise UsageError("--facts: only with --proof, or of a redacted copy")
    if run is not None and is_audit(run):
        from benchbook.exchange.verifying_audits import verify_audit

        audit = open_audit(run)
        with shown_verification() as handler:
            found = verify_audit(audit, expect=expect, on_progress=handler)
        return audit.path, f"the audit is {state_words(found.state)}", found
    if run is not None and is_pairs(run):
        from benchbook.exchange.verifying_pairs import verify_pairs

        pairs = open_pairs(run)
        with shown_verification() as handler:
            found = verify_pairs(pairs, expect=expect, on_progress=handler)
        return pairs.path, f"the pairs are {state_words(found.state)}", found
    record = find_record(run, runs, says_name=False)
    held_against = None if against is None else find_record(against, runs)
    with shown_verification() as handler:
        found = verify_record(record, expect=expect, against=held_against, runs=runs, on_progress=handler)
    what = "people's labels" if is_of_labels(record) else f"the run is {state_words(found.state)}"
    return record.path, what, found


@click.command()
@run_argument
@click.option("--spec", help="The evaluator's version; by default the one that the run was made under.")
@click.option("--reports", default="reports", show_default=True, help="Where reports go; `none` for none.")
@runs_option
@json_option
def rescore(run: str | None, spec: str | None, reports: str, runs: str, as_json: bool) -> None:
    """Compute every number of RUN again from its journal, without calling a model.

    Of people's labels, write the anchor again that names their last one, where it is missing.
    """
    from benchbook.cli.summary import print_run
    from benchbook.evaluators.registry import evaluator_of
    from benchbook.record.derived_files import deriving

    record = find_record(run, runs)
    if is_of_labels(record):
        _write_anchor(record, as_json)
        return
    made_under = record.started().spec
    if spec is not None and spec != made_under:
        raise UsageError(f"{record.path}: was made under {made_under}; its replies hold no scores by {spec}")
    with deriving(record):
        derived = evaluator_of(record).derive(record, record.path)
    print_run(record, derived, reports=None if reports == "none" else reports, as_json=as_json)


def _write_anchor(record: Record, as_json: bool) -> None:
    """Of labels nothing is computed; their anchor may be missing."""
    from benchbook.record.anchor import read_anchor, write_missing_anchor

    write_missing_anchor(record)
    anchor = read_anchor(record)
    if as_json:
        print_json({"path": str(record.path), "anchor": anchor})
    elif anchor is not None:
        click.echo(
            visible(f"{record.anchor}: names {anchor.journal_facts} facts, the last with hash {anchor.journal_sha256}")
        )
