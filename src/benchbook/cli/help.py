"""The help of commands with many options: in sections, the commonest first, and examples at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from benchbook.cli.commands import write_examples
from benchbook.evaluators.settings import SETTINGS

_OWN = "This command"
_FIRST = next(iter(SETTINGS))  # of the sections; the command's own options follow it


class SectionedCommand(click.Command):
    """A command that takes settings: its options are listed in the sections of the config file.

    `own` is what the command's own options come under, in sections of their own; those that it does not name are in
    one for all. `examples` are commands, each with what it does.
    """

    def __init__(
        self,
        *words: Any,
        own: Mapping[str, Sequence[str]] | None = None,
        examples: Sequence[tuple[str, str]] = (),
        **more: Any,
    ) -> None:
        super().__init__(*words, **more)
        self._own = own or {}
        self._examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a table of options for each section that has any."""
        rows: dict[str, list[tuple[str, str]]] = {section: [] for section in self._sections()}
        section_of = {name: section for section, names in (*SETTINGS.items(), *self._own.items()) for name in names}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if row is not None:
                rows[section_of.get(param.name or "", _OWN)].append(row)
        for section, of_section in rows.items():
            if of_section:
                with formatter.section(section):
                    formatter.write_dl(of_section)

    def _sections(self) -> list[str]:
        """All sections, in their order."""
        return [*self._own, _FIRST, _OWN, *(section for section in SETTINGS if section != _FIRST)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, each as it is typed, and what it does below it."""
        write_examples(self._examples, formatter)
        super().format_epilog(ctx, formatter)
