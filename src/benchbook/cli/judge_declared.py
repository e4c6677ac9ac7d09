"""What `benchbook judge import` is told of the judges, by options and by a file (SPEC P7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from benchbook.cli.settings import pairs

if TYPE_CHECKING:
    from benchbook.runner.judgement_declared import Declarations

__all__ = ["DECLARED", "declarations", "declared_options"]

DECLARED = ("judges", "judge_version", "judge_params", "tools", "web_access", "judge_prompt")

_OPTIONS = (
    click.option(
        "--judges",
        metavar="FILE.toml",
        help="What is known of each judge: a table [judges.NAME] with version, params, tools, web_access, prompt.",
    ),
    click.option(
        "--judge-version", metavar="TEXT", help="Of all judges that the file says nothing else of; so are the next."
    ),
    click.option("--judge-params", multiple=True, metavar="NAME=VALUE", help="Decoding parameters; repeat."),
    click.option("--tools", multiple=True, metavar="NAME", help="A tool that they had, or `none`; repeat."),
    click.option("--web-access", type=click.Choice(["yes", "no"]), help="Whether they had it."),
    click.option("--judge-prompt", metavar="FILE", help="The prompt by which they judged."),
)


def declared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def declarations(given: Mapping[str, Any]) -> Declarations:
    """Raises: ConfigError, UsageError, InputError for what is none."""
    from benchbook.runner.judgement_declared import declarations_from, tools_of

    for_all = {
        "version": given["judge_version"],
        "params": pairs("judge_params", given["judge_params"]) if given["judge_params"] else None,
        "tools": tools_of(given["tools"]) if given["tools"] else None,
        "web_access": None if given["web_access"] is None else given["web_access"] == "yes",
        "prompt": given["judge_prompt"],
    }
    return declarations_from({name: value for name, value in for_all.items() if value is not None}, given["judges"])
