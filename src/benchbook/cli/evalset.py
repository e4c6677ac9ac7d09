"""`benchbook evalset`: validate, show, diff, new, list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_file, complete_set
from benchbook.cli.output import json_option, json_text, print_json, print_table
from benchbook.text import did_you_mean, plural, shorten, visible

if TYPE_CHECKING:
    from benchbook.evalsets.composition import EvalSetDifference
    from benchbook.evalsets.findings import Code, Finding, Severity

_PROFILES = ("golden-v1", "eval_v1", "eval_v2", "rubric", "score")
_KINDS = ("answer_correctness", "rubric")


@click.group()
def evalset() -> None:
    """Validate, show, compare or start eval sets.

    SET is a file (JSONL, CSV, Parquet), or the name of a set that Benchbook ships (see `benchbook evalset list`).
    """


@evalset.command()
@click.argument("files", metavar="SET...", nargs=-1, required=True, shell_complete=complete_set)
@click.option(
    "--as",
    "profile",
    type=click.Choice(_PROFILES),
    help="What the set has to be made of: rubric as `run` takes it, score as `score` does, or one of those that ship; "
    "by default any number of items, each with all fields of these.",
)
@json_option
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0, for editors and CI.")
@click.pass_context
def validate(ctx: click.Context, files: tuple[str, ...], profile: str | None, as_json: bool, as_sarif: bool) -> None:
    """Say everything that is wrong with SETs: file, line, field, reason and a stable code.

    Ends with 1 where there is an error; warnings alone end with 0.
    """
    from importlib.metadata import version

    from benchbook.evalsets import findings as finding_formats
    from benchbook.evalsets.validate import exit_code
    from benchbook.evalsets.validate import validate as findings_of

    if as_json and as_sarif:
        raise click.UsageError("--json and --sarif: one of them")
    found = (finding for file in files for finding in findings_of(_path_of(file), profile))
    if as_json or as_sarif:
        findings = list(found)
        sarif = finding_formats.as_sarif(findings, version=version("benchbook")) if as_sarif else None
        click.echo(json_text(sarif, indent=2) if sarif else finding_formats.as_json(findings))
        ctx.exit(exit_code(findings))
    errors = _print_findings(found, most_missing=None if profile else _MOST_MISSING)
    if profile is None and errors == {"missing_field"}:
        click.echo("Without --as, each item needs all fields of the sets that Benchbook ships.", err=True)
        for command, as_ in (("run", "rubric"), ("score", "score")):
            faults = (one for file in files for one in findings_of(_path_of(file), as_))
            fits = not any(one.severity == "error" for one in faults)
            how = "as it is" if fits else f"not, and --as {as_} says why"
            click.echo(f"`benchbook {command}` takes it {how}.", err=True)
    ctx.exit(int(bool(errors)))


_MOST_MISSING = 3  # of a field, lines that say that an item lacks it


def _print_findings(findings: Iterable[Finding], *, most_missing: int | None) -> set[Code]:
    """Print a line for each finding, as it comes, and the number of each severity; return the errors' codes.

    Of the items that lack a field, `most_missing` are named at most, and the others counted: a file that was made for
    another evaluator lacks it in every one.
    """
    from benchbook.evalsets.findings import as_line

    counts: dict[Severity, int] = {"error": 0, "warning": 0}
    missing: Counter[str] = Counter()
    errors: set[Code] = set()
    for finding in findings:
        counts[finding.severity] += 1
        errors |= {finding.code} if finding.severity == "error" else set()
        field = finding.field if finding.code == "missing_field" else None
        missing.update([field] if field else ())
        if most_missing is None or field is None or missing[field] <= most_missing:
            click.echo(as_line(finding))
    for field, n in missing.items():
        if most_missing is not None and n > most_missing:
            click.echo(f"{field}: {n - most_missing:,} more items have none [missing_field]")
    click.echo(f"{plural(counts['error'], 'error')}, {plural(counts['warning'], 'warning')}", err=True)
    return errors


@evalset.command()
@click.argument("file", metavar="SET", shell_complete=complete_set)
@json_option
def show(file: str, as_json: bool) -> None:
    """Show what SET is made of: how many items of each section, category and difficulty."""
    from benchbook.evalsets import open_evalset
    from benchbook.evalsets.composition import composition_rows

    with open_evalset(_path_of(file)) as opened:
        rows = composition_rows(opened)
        head = {"path": str(opened.path), "sha256": opened.sha256, "n_items": len(opened)}
    if as_json:
        print_json(head | {"composition": rows})
        return
    click.echo(visible(f"{head['path']}: {plural(len(opened), 'item')}, sha256 {opened.sha256}"))
    before = None
    table: list[tuple[str, ...]] = []
    for row in rows:
        value = "(none)" if row.value is None else shorten(row.value, 60)
        share = f"{100 * row.n_items / len(opened):.0f} %"
        table.append(("" if row.field == before else row.field, value, str(row.n_items), share))
        before = row.field
    print_table(("field", "value", "items", "share"), table)


@evalset.command()
@click.argument("before", metavar="SET_A", shell_complete=complete_set)
@click.argument("after", metavar="SET_B", shell_complete=complete_set)
@click.option("--exit-code", "says_so", is_flag=True, help="End with 1 where the sets differ.")
@json_option
@click.pass_context
def diff(ctx: click.Context, before: str, after: str, says_so: bool, as_json: bool) -> None:
    """Show what changed from SET_A to SET_B, item by item, by id."""
    from benchbook.evalsets import open_evalset
    from benchbook.evalsets.composition import difference

    with open_evalset(_path_of(before)) as old, open_evalset(_path_of(after)) as new:
        found = difference(old, new)
    if as_json:
        print_json(found)
    else:
        _print_difference(found)
    ctx.exit(int(says_so and bool(found)))


def _print_difference(found: EvalSetDifference) -> None:
    click.echo(
        f"{len(found.added)} added, {len(found.removed)} removed, {len(found.changed)} changed, {found.n_same} the same"
        + ("; in another order" if found.reordered else "")
    )
    for sign, ids in (("+", found.added), ("-", found.removed)):
        for item_id in ids:
            click.echo(f"{sign} {shorten(item_id, 60)}")
    for item in found.changed:
        for field, (old, new) in item.fields.items():
            click.echo(f"~ {shorten(item.id, 60)}: {field}: {_value(old)} -> {_value(new)}")


@evalset.command()
@click.argument("file", metavar="FILE.jsonl", shell_complete=complete_file)
@click.option("--for", "kind", type=click.Choice(_KINDS), default=_KINDS[0], show_default=True, help="The evaluator.")
@json_option
def new(file: str, kind: str, as_json: bool) -> None:
    """Start a set: write FILE.jsonl with one item that keeps the rules. A file that is there is left as it is."""
    from benchbook.evalsets.starting import start_evalset

    path = start_evalset(file, "rubric" if kind == "rubric" else "answer_correctness")
    if as_json:
        print_json({"path": str(path), "kind": kind})
        return
    profile = " --as rubric" if kind == "rubric" else ""
    click.echo(visible(f"{path}: written. Put your items there, then: benchbook evalset validate{profile} {path}"))


@evalset.command(name="list")
@json_option
def list_shipped(as_json: bool) -> None:
    """List the sets that Benchbook ships. Their names do wherever a SET is asked for in these commands."""
    from benchbook.evalsets import open_evalset
    from benchbook.evalsets.opening import shipped_names, shipped_path

    rows: list[dict[str, Any]] = []
    for name in shipped_names():
        with open_evalset(shipped_path(name)) as opened:
            rows.append({"name": name, "n_items": len(opened), "sha256": opened.sha256, "path": str(opened.path)})
    if as_json:
        print_json(rows)
        return
    print_table(
        ("name", "items", "sha256", "path"),
        [(row["name"], str(row["n_items"]), row["sha256"][:12], row["path"]) for row in rows],
    )


def _path_of(file: str) -> Path:
    """The file of that name, or the set that is shipped under it.

    Raises: UsageError where there is neither.
    """
    from benchbook.errors import UsageError
    from benchbook.evalsets.opening import shipped_names, shipped_path

    if Path(file).exists():
        return Path(file)
    name = file.removeprefix("@")  # as `benchbook run` spells it
    if name.replace("-", "_") in shipped_names():
        return shipped_path(name)
    raise UsageError(
        f"{file}: no such file, and no set of that name is shipped; there are {', '.join(shipped_names())}"
        f"{did_you_mean(file, (f'@{one}' for one in shipped_names()))}"
    )


def _value(value: Any) -> str:
    if value is None:
        return "(nothing)"
    return shorten(value if isinstance(value, str) else json_text(value), 80)
