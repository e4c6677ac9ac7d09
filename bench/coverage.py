"""How well the methods do that Benchbook uses, beside what else could be used: coverage, errors, power, width.

    script/bench statistics [--only NAME] [--draws N] [--markdown | --json]

Every row of the table "Where which method is used, and how it does" in docs/explanation/statistics.md is simulated
here, with fixed seeds: the same draws, the same figures. Where outcomes can be listed they are, and nothing is drawn.
What costs more draws less: a line of `--json` says how many.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from types import ModuleType
from typing import Any

from simulations import (
    alike,
    clusters,
    corrected,
    decisions,
    paired,
    percentiles,
    planning,
    ranks,
    regressions,
    slices,
    stopping,
)
from simulations.ground import Line, Measured

DRAWS = 4_000
ROWS: Mapping[str, ModuleType] = {
    one.__name__.removeprefix("simulations."): one
    for one in (
        corrected,
        alike,
        clusters,
        percentiles,
        ranks,
        paired,
        slices,
        regressions,
        stopping,
        decisions,
        planning,
    )
}
STANDINGS = {"holds": "", "cautious": "cautious", "broken": "**broken**"}
HEADER = (
    "| where, and the case | goal, % | in use | % | width, or as named | best other | % | width, or as named |",
    "| --- | --- | --- | ---: | ---: | --- | ---: | ---: |",
)


def measured(names: Sequence[str], draws: int) -> Iterator[Line]:
    for name in names:
        yield from ROWS[name].lines(draws)


def markdown(found: Iterable[Line]) -> Iterator[str]:
    """The manual's table: a row that names the method's place, and under it its cases."""
    yield from HEADER
    where = ""
    for line in found:
        if line.where != where:
            where = line.where
            yield f"| **{where}** | | | | | | | |"
        yield _row(line)


def _row(line: Line) -> str:
    standing = STANDINGS[line.standing]
    today = [line.today.method, " ".join(filter(None, (_percent(line.today), standing))), _cost(line, line.today)]
    other = line.best_other
    best = ["", "", ""] if other is None else [other.method, _percent(other), _cost(line, other)]
    return f"| {' | '.join([line.case, line.goal.words, *today, *best])} |"


def _percent(one: Measured) -> str:
    return f"{one.percent:.1f}" if one.given > 99.5 else f"{one.percent:.1f} ({one.given:.0f})"


def _cost(line: Line, one: Measured) -> str:
    if one.cost is None:
        return ""
    if line.cost == "width":
        return f"{one.cost:.4f}" if one.cost < 0.02 else f"{one.cost:.3f}"
    unit = line.cost.removeprefix("width, ").removesuffix(", %")
    return f"{one.cost:.0f} {unit}" if line.cost.startswith("width, ") else f"{unit} {one.cost:.1f}"


def as_json(line: Line) -> dict[str, Any]:
    other = line.best_other
    return asdict(line) | {"standing": line.standing, "best_other": None if other is None else other.method}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=ROWS, action="append", help="a row; may be given again")
    parser.add_argument("--draws", type=int, default=DRAWS, help="of a case that costs little; %(default)s by default")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="the manual's table")
    form.add_argument("--json", action="store_true", help="a line a case, with all alternatives")
    options = parser.parse_args()
    if options.draws < 1:
        parser.error("--draws must be 1 or more")
    found = measured(options.only or list(ROWS), options.draws)
    if options.markdown:
        for row in markdown(found):
            print(row, flush=True)
        return
    for line in found:
        print(json.dumps(as_json(line)) if options.json else as_text(line), flush=True)


def as_text(line: Line) -> str:
    """A case, its goal, and a line for each method."""
    head = f"{line.where}: {line.case} (goal {line.goal.words}; {line.standing})"
    methods = (f"    {one.method:40} {_percent(one):>12} %   {_cost(line, one)}" for one in (line.today, *line.others))
    return "\n".join([head, *methods])


if __name__ == "__main__":
    main()
