"""Which output of a set a judgement is about, by what is known of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from benchbook.evalsets.output_sets import Output
from benchbook.text import shorten

__all__ = ["NAMED_BY", "NoOutput", "OutputIndex"]

NAMED_BY = ("question_id", "prompt_variant", "target_model", "output_id", "file", "file_name")


class NoOutput(NamedTuple):
    reason: str


_Values = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class OutputIndex:
    """Looks outputs up by any of `NAMED_BY`; `file_name` is the last part of `file`."""

    outputs: Sequence[Output]
    _tables: dict[tuple[str, ...], dict[_Values, list[Output]]] = field(default_factory=dict)

    def find(self, known: Mapping[str, str]) -> Output | NoOutput:
        """The one output of which all that is `known` is true."""
        names = tuple(sorted(known))
        found = self._table(names).get(tuple(known[name] for name in names), [])
        if len(found) == 1:
            return found[0]
        said = ", ".join(f"{name} '{shorten(known[name][:200], 60)}'" for name in names)
        return NoOutput(f"{len(found) or 'no'} output{'s' * bool(found)} of the set with {said or 'no name'}")

    def _table(self, names: tuple[str, ...]) -> dict[_Values, list[Output]]:
        if names not in self._tables:
            table: dict[_Values, list[Output]] = defaultdict(list)
            for output in self.outputs:
                table[tuple(_value(output, name) for name in names)].append(output)
            self._tables[names] = dict(table)
        return self._tables[names]


def _value(output: Output, name: str) -> str | None:
    if name == "file":
        return output.file
    if name == "file_name":
        return output.file and output.file.rsplit("/", 1)[-1]
    return output.cell[name]
