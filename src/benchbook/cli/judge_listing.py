"""What the commands of `benchbook judge` share: declared values, and lists that end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from benchbook.errors import ConfigError
from benchbook.text import shorten

if TYPE_CHECKING:
    from benchbook.evalsets.output_set_sources import OtherFile

__all__ = ["LISTED", "WIDTH", "declared_values", "print_others", "print_some", "value_option"]

LISTED = 20  # of each kind, for people
WIDTH = 60

value_option = click.option("--value", "values", multiple=True, metavar="NAME=VALUE", help="Declares a value; repeat.")


def declared_values(values: Iterable[str]) -> dict[str, list[str]]:
    declared: dict[str, list[str]] = {}
    for given in values:
        name, sign, value = given.partition("=")
        if not sign:
            raise ConfigError("--value", shorten(given, WIDTH), "NAME=VALUE")
        declared.setdefault(name, []).append(value)
    return declared


def print_others(others: Sequence[OtherFile]) -> None:
    print_some("not read", others, len(others), lambda other: f"{shorten(other.name, WIDTH)}: {other.reason}")


def print_some(what: str, found: Iterable[Any], count: int, say: Callable[[Any], str]) -> None:
    for each in islice(found, LISTED):
        click.echo(f"{what}: {say(each)}")
    if count > LISTED:
        click.echo(f"{what}: and {count - LISTED} more")
