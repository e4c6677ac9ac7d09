"""`benchbook rubric`, `checks` and `protocol`: evaluators of one's own, to start from and to be looked at."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.completion import complete_folder
from benchbook.cli.output import json_option, print_json
from benchbook.errors import ConfigError, UsageError
from benchbook.text import one_line, visible

if TYPE_CHECKING:
    from benchbook.specs.folders import SpecKind, StartedFrom

# ── to start from ────────────────────────────────────────────────────────────────────────────────────────────


def _add_init(group: click.Group, kind: SpecKind, files: str, then: str = "") -> None:
    """Add `init NAME` to a group: `files` names the files it writes, `then` is the end of the next command to call."""

    @group.command("init", help=f"Write NAME@v1/{files}, commented, to start from.")
    @click.argument("name")
    @json_option
    def init(name: str, as_json: bool) -> None:
        _start(name, kind, then, as_json=as_json, starts_from=kind)


def _start(name: str, kind: SpecKind, then: str, *, as_json: bool, starts_from: StartedFrom) -> None:
    spec, paths = _start_spec(name, starts_from)
    if as_json:
        print_json({"files": [str(path) for path in paths], "spec": spec})
    else:
        click.echo("\n".join(map(str, paths)) + f"\nLook at it: benchbook {kind} check {spec}{then}")


def _start_spec(name: str, starts_from: StartedFrom) -> tuple[str, list[Path]]:
    """Write NAME@v1 with the files that such a spec starts from. Return its name, and the paths of the files.

    Raises: ConfigError for a faulty name; UsageError where one of the files is there; RecordError.
    """
    from benchbook.specs.fields import NAME
    from benchbook.specs.folders import FROZEN, files_to_start_from
    from benchbook.writing import folder_made_whole, write_file

    if not NAME.fullmatch(name):
        raise ConfigError("NAME", repr(name[:60]), "small letters, digits and _, a letter first, at most 48")
    spec = f"{name}@v1"
    if spec in FROZEN:
        raise ConfigError("NAME", repr(name), f"another name: {spec} is shipped")
    texts = {Path(spec) / file: text for file, text in files_to_start_from(starts_from, name).items()}
    for path in texts:
        if path.exists():
            raise UsageError(f"{path}: is there already; nothing was written")
    folder = Path(spec)
    with nullcontext(folder) if folder.exists() else folder_made_whole(folder) as made:
        for path, text in texts.items():
            write_file(made / path.name, text.encode("utf-8"))
    return spec, list(texts)


def _show(described: dict[str, Any], lines: Callable[[dict[str, Any]], list[str]], *, as_json: bool) -> None:
    if as_json:
        print_json(described)
    else:
        click.echo("\n".join(lines(described)))


# ── checks ───────────────────────────────────────────────────────────────────────────────────────────────────


@click.group()
def checks() -> None:
    """Make evaluators of your own, without a judge: a folder with a spec.toml, which `benchbook score` takes."""


_add_init(checks, "checks", "spec.toml", " --evalset FILE")


@checks.command("check")
@click.argument("folder", shell_complete=complete_folder)
@click.option("--evalset", help="What it would score: every item is looked at, and the first is shown.")
@json_option
def check_checks(folder: str, evalset: str | None, as_json: bool) -> None:
    """Name every fault of FOLDER's spec.toml by its line, or show what its checks ask. FOLDER may be a shipped SPEC."""
    from benchbook.evaluators.checks.described import described_checks
    from benchbook.evaluators.registry import evaluator_asked_for

    _show(described_checks(evaluator_asked_for(folder), evalset), _checks_lines, as_json=as_json)


def _checks_lines(shown: dict[str, Any]) -> list[str]:
    lines = [f"{shown['spec']}: {shown['about']}"]
    for check in shown["checks"]:
        must = "must pass" if check["must_pass"] else "may miss"
        lines.append(f"  {check['name']}: {check['kind']} of {check['compare']}; weight {check['weight']}, {must}")
    lines += [f"  {item['name']}: {item['compares']}" for item in shown.get("first_item", {}).get("checks", ())]
    return [*lines, f"sha256 {shown['sha256']}"]


# ── rubrics ──────────────────────────────────────────────────────────────────────────────────────────────────


@click.group()
def rubric() -> None:
    """Make rubrics of your own: a folder with a spec.toml and its prompt, which `benchbook run --spec` takes."""


@rubric.command("init")
@click.argument("name")
@click.option("--pairs", is_flag=True, help="One that says which of two answers is better, for `judge pairs`.")
@json_option
def init_rubric(name: str, pairs: bool, as_json: bool) -> None:
    """Write NAME@v1/spec.toml and prompt.txt, commented, to start from."""
    _start(name, "rubric", " --evalset FILE", as_json=as_json, starts_from="pairs" if pairs else "rubric")


@rubric.command("check")
@click.argument("folder", shell_complete=complete_folder)
@click.option("--evalset", help="What it would judge: shows what a judge is asked about an answer to the first item.")
@json_option
def check_rubric(folder: str, evalset: str | None, as_json: bool) -> None:
    """Name every fault of FOLDER's spec.toml and prompt by its line, or show what it asks and what may be limited."""
    from benchbook.evaluators.rubric.described import described_rubric

    _show(described_rubric(folder, evalset), _rubric_lines, as_json=as_json)


def _dollars(value: float) -> str:
    from benchbook.views.numbers import money

    return money(str(value))


_QUOTES = {"must_be_found": "", "report": ", which is counted"}
_PASSES = {
    "min_score": "a sample score of at least {:g}, and every limit",
    "at_least": "at least {} criteria at their at_least, and every limit of what is measured",
}


def _rubric_lines(shown: dict[str, Any]) -> list[str]:
    lines = [f"{shown['spec']}: {one_line(shown['about'])}"]
    for one in shown["criteria"]:
        least = "any passes" if one["at_least"] is None else f"{one['at_least']} passes"
        low, high = one["scale"]
        quoted = f"; quotes the {one['quote_from']}{_QUOTES[one['quote']]}" if one["quote"] else ""
        scale = f"{low} to {high}, {least}; weight {one['weight']}{quoted}"
        lines.append(f"  {one['name']}: {scale}: {one_line(one['question'] or 'criteria that each item brings')}")
    for one in shown["measures"]:
        amount = _dollars if one["name"] == "cost" else "{:,}".format
        limit = "no limit" if one["at_most"] is None else f"at most {amount(one['at_most'])}"
        lines.append(f"  {one['name']}: {limit}; target {amount(one['target'])}, weight {one['weight']}")
    ((rule, asked),) = shown["pass"].items()
    lines += [f"  passes: {_PASSES[rule].format(asked)}"] if rule in _PASSES else []
    for gate in shown["gates"]:
        side = "at_least" if "at_least" in gate else "at_most"
        lines.append(f"  gate: {gate['aggregate']} {side.replace('_', ' ')} {gate[side]:g}")
    lines += [
        f"  ! {name}: no number of samples shows the best value there is; `--confidence none` decides by the values"
        for name in shown["never_shown"]
    ]
    for message in shown.get("first_judge_messages", ()):
        lines += [f"--- {message['role']}", visible(message["content"]).rstrip("\n")]
    return [*lines, f"may be limited: {', '.join(shown['aggregates'])}", f"sha256 {shown['sha256']}"]


# ── judge protocols ──────────────────────────────────────────────────────────────────────────────────────────


@click.group()
def protocol() -> None:
    """Make judge protocols of your own: a folder with a spec.toml and its prompts, which `benchbook judge run --spec`
    takes."""


_add_init(protocol, "protocol", "spec.toml and prompt.txt")


@protocol.command("check")
@click.argument("folder", metavar="FOLDER", shell_complete=complete_folder)
@click.option("--prompts", "shows_prompts", is_flag=True, help="Show what judges are asked about an output, too.")
@json_option
def check_protocol(folder: str, shows_prompts: bool, as_json: bool) -> None:
    """Name every fault of FOLDER's spec.toml and prompts by its line, or show what it asks. FOLDER may be
    judge_protocol@v1."""
    from benchbook.evaluators.protocol.described import described_protocol

    _show(described_protocol(folder, with_prompts=shows_prompts), _protocol_lines, as_json=as_json)


def _protocol_lines(shown: dict[str, Any]) -> list[str]:
    lines = [f"{shown['spec']}: {one_line(shown['about'])}"]
    for one in shown["dimensions"]:
        quoted = "quoted" if one["must_quote"] else "needs no quote"
        lines.append(f"  {one['name']}: {one['scale'][0]} to {one['scale'][-1]}, {quoted}: {one_line(one['question'])}")
    lowest, highest = shown["overall_score"]
    verdict, evidence = shown["verdict"], shown["evidence"]
    lines.append(
        f"  overall {lowest} to {highest}: FAIL up to {verdict['fail_at_most']}, PASS from "
        f"{verdict['pass_at_least']} on, else PARTIAL"
    )
    lines.append(
        f"  quotes: at most {evidence['max_quote_words']} words, at least {evidence['min_quote_characters']} characters"
    )
    for prompt in shown["prompts"]:
        lines.append(f"  prompt {prompt['name']}: {', '.join(prompt['methods'])}  {prompt['sha256']}")
        if not prompt["fenced"]:
            lines.append(f"  ! {prompt['name']} has no {{{{fence}}}}: what is judged can pass for an instruction")
    for name, messages in shown.get("asked", {}).items():
        for message in messages:
            lines += [f"--- {name}: {message['role']}", visible(message["content"]).rstrip("\n")]
    return [*lines, f"sha256 {shown['sha256']}"]
