"""`benchbook judge import`: judgements that were made elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from benchbook.cli.output import json_option, json_text, print_json, print_table, runs_option
from benchbook.cli.settings import name_values, pairs
from benchbook.cli.summary import write_reports
from benchbook.errors import ConfigError
from benchbook.text import one_line, shorten

if TYPE_CHECKING:
    from benchbook.evalsets.output_set_sources import OtherFile
    from benchbook.evaluators.protocol.config import Declarations
    from benchbook.evaluators.protocol.importing import ImportedSource


def _declarations(given: Mapping[str, Any]) -> Declarations:
    """The declarations that the options make. Raises: ConfigError, UsageError, InputError for a faulty one."""
    from benchbook.evaluators.protocol.config import declarations_from, tools_of

    for_all = {
        "version": given["judge_version"],
        "params": pairs("judge_params", given["judge_params"]) if given["judge_params"] else None,
        "tools": tools_of(given["tools"]) if given["tools"] else None,
        "web_access": None if given["web_access"] is None else given["web_access"] == "yes",
        "prompt": given["judge_prompt"],
    }
    return declarations_from({name: value for name, value in for_all.items() if value is not None}, given["judges"])


LISTED = 20  # of each kind, for people
WIDTH = 60

same_model_option = click.option(
    "--same-model", multiple=True, metavar="ALIAS=MODEL", help="Two names of one model; repeat."
)
spec_option = click.option(
    "--spec", metavar="FOLDER", help="A judge protocol of your own; by default the one that is shipped."
)
value_option = click.option("--value", "values", multiple=True, metavar="NAME=VALUE", help="Declares a value; repeat.")


def declared_values(values: Iterable[str]) -> dict[str, list[str]]:
    declared: dict[str, list[str]] = {}
    for name, value in name_values(values, "--value"):
        declared.setdefault(name, []).append(value)
    return declared


def same_model_table(words: Iterable[str]) -> dict[str, str]:
    """The models by alias, as `--same-model` declares them. Raises: ConfigError for a word without ALIAS=MODEL."""
    return dict(name_values(words, "--same-model", "ALIAS=MODEL"))


def print_others(others: Sequence[OtherFile]) -> None:
    print_some("not read", others, len(others), lambda other: f"{shorten(other.name, WIDTH)}: {other.reason}")


def print_some(what: str, found: Iterable[Any], count: int, say: Callable[[Any], str]) -> None:
    for each in islice(found, LISTED):
        click.echo(f"{what}: {say(each)}")
    if count > LISTED:
        click.echo(f"{what}: and {count - LISTED} more")


_DECLARED = ("judges", "judge_version", "judge_params", "tools", "web_access", "judge_prompt")
_ODD = {"n_no_output": "no output", "n_no_text": "no text"}  # columns that are shown where they hold something


@click.command(name="import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--set", "set_folder", required=True, metavar="FOLDER", help="The evaluation set; see judge init.")
@spec_option
@click.option("--mapping", metavar="FILE.toml", help="SOURCEs are bundles of another shape, read by this mapping.")
@click.option("--pattern", help="SOURCEs are folders of raw replies, one a file, named like this.")
@value_option
@click.option("--out", metavar="FILE.jsonl", help="Write the judgements; `-` prints them instead of the table.")
@click.option("--record", "run_id", metavar="RUN_ID", help="Make a record of the judgements, with this name.")
@click.option(
    "--evidence",
    type=click.Choice(["must_be_found", "report"]),
    default="must_be_found",
    show_default=True,
    help="With --record: whether a quote that is not found invalidates.",
)
@same_model_option
@click.option("--prompts", metavar="TABLE", help="With --record: what the targets were asked; else it is not known.")
@click.option(
    "--judges",
    metavar="FILE.toml",
    help="What is known of each judge: a table [judges.NAME] with version, params, tools, web_access, prompt.",
)
@click.option(
    "--judge-version", metavar="TEXT", help="Of all judges that the file says nothing else of; so are the next."
)
@click.option("--judge-params", multiple=True, metavar="NAME=VALUE", help="Decoding parameters; repeat.")
@click.option("--tools", multiple=True, metavar="NAME", help="A tool that they had, or `none`; repeat.")
@click.option("--web-access", type=click.Choice(["yes", "no"]), help="Whether they had it.")
@click.option("--judge-prompt", metavar="FILE", help="The prompt by which they judged.")
@click.option(
    "--reports", default="reports", show_default=True, help="With --record: where its page and archive go, or `none`."
)
@runs_option
@json_option
@click.pass_context
def import_(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    set_folder: str,
    spec: str | None,
    mapping: str | None,
    pattern: str | None,
    values: tuple[str, ...],
    out: str | None,
    run_id: str | None,
    evidence: Literal["must_be_found", "report"],
    same_model: tuple[str, ...],
    prompts: str | None,
    reports: str,
    runs: str,
    as_json: bool,
    **declared: Any,
) -> None:
    """Read judgements that were made elsewhere, and say how many of their quotes stand in the judged texts.

    SOURCE is a table of replies (JSONL, CSV, Parquet: reply, judge_model, method and what names the output), or with
    --pattern a folder, or with --mapping a bundle. A pattern's placeholders are {judge_model}, {method},
    {question_id}, {prompt_variant}, {target_model}, {output_id}; --value judge_model=NAME declares one for all.

    A record holds one judgement of an output by a judge: judgements by another prompt or try go into a record of their
    own. Nothing is repaired: what a judgement lacks stays missing. What nobody declares of the judges (version,
    parameters, tools, web access, prompt) is not known. Ends with 1 where one names no output of the set.
    """
    from benchbook.evaluators.protocol.import_record import ImportConfig, record_judgements
    from benchbook.evaluators.protocol.importing import import_sources, write_judgements

    _check_together(ctx)
    said = _one_each(declared_values(values))
    imported = import_sources(sources, set_folder, spec, mapping=mapping, pattern=pattern, declared=said)
    rows = imported.counts()
    if out == "-":
        for judgement in imported.judgements:
            click.echo(json_text(judgement))
    elif out is not None:
        write_judgements(out, imported.judgements)
    made = None
    if run_id is not None:
        config = ImportConfig(
            runs=runs,
            run_id=run_id,
            spec=imported.spec,
            evidence=evidence,
            same_model=same_model_table(same_model),
            prompts=prompts,
            judges=_declarations(declared),
        )
        made = record_judgements(imported.output_set, imported.judgements, config)
    written = [] if made is None or reports == "none" else write_reports(made.record, made.derived, reports)
    if as_json:
        print_json(
            {
                "set_sha256": imported.output_set.sha256,
                "mapping_sha256": imported.mapping_sha256,
                "sources": rows,
                "run": made and str(made.record.path),
                "reports": [str(path) for path in written],
            }
        )
    elif out != "-":
        _print_import(imported.sources, rows)
        if made is not None:
            click.echo(f"{one_line(str(made.record.path))}: recorded")
        for path in written:
            click.echo(f"  {one_line(str(path))}")
    ctx.exit(int(any(row["n_no_output"] for row in rows)))


def _check_together(ctx: click.Context) -> None:
    """Refuse options of `judge import` that do not go together."""
    given = ctx.params
    if given["mapping"] and given["pattern"]:
        raise click.UsageError("--mapping and --pattern: one of them")
    if given["as_json"] and given["out"] == "-":
        raise click.UsageError("--json and --out -: one of them")
    if given["run_id"] is None:
        for name in ("evidence", "same_model", "prompts", *_DECLARED, "reports", "runs"):
            if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name.replace('_', '-')}: of a record; with --record alone")


def _one_each(declared: dict[str, list[str]]) -> dict[str, str]:
    for name, values in declared.items():
        if len(values) > 1:
            raise ConfigError(f"--value {name}", f"{len(values)} values", "one for all judgements")
    return {name: value for name, (value,) in declared.items()}


def _print_import(imported: Sequence[ImportedSource], rows: Sequence[dict[str, Any]]) -> None:
    from benchbook.evaluators.protocol.importing import PLACES

    odd = [name for name in _ODD if any(row[name] for row in rows)]
    columns = ("n_judgements", *odd, "n_quotes", *PLACES)
    head = ("source", *(_ODD.get(name, name.removeprefix("n_")).replace("_", " ") for name in columns))
    cells = [(one_line(row["source"]), *(str(row[name]) for name in columns)) for row in rows]
    print_table(head, cells, numbers=True)
    for source in imported:
        about = [judgement for judgement in source.judgements if judgement.remarks]
        places = [(one_line(f"{each.source} {each.place}"), remark) for each in about for remark in each.remarks]
        print_some("note", places, len(places), lambda each: f"{each[0]}: {each[1]}")
        print_others(source.others)
