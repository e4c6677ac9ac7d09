"""Six judges on trial: LLMBar's 419 pairs of answers, with people's gold label, judged in both orders.

    python llmbar.py FOLDER > ../explanation/llmbar.md

FOLDER holds `judgements.csv` (subset, item, gold, judge, strategy, winner_ab, winner_ba, …: one row a verdict) and
`published_statistics.json`, what the data's authors computed from it. The page is written only where all of their
counts come out again.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchbook.statistics import Estimate, McNemar, adjust_p_values, bonett_price, mcnemar, wilson

BEST = "GPT-4"
ALL = "all"
ALPHA = 0.05
COLUMNS = ("correct_False", "correct_True", "correct_both", "equal")


class Key(NamedTuple):
    subset: str
    judge: str
    strategy: str


@dataclass(frozen=True)
class Verdict:
    """Which of two answers a judge preferred, 1 or 2, in either order of showing them; "" where it named none."""

    gold: str
    ab: str
    ba: str

    @property
    def right_in_both(self) -> bool:
        return self.ab == self.gold == self.ba


Cell = Mapping[int, Verdict]  # by item


@dataclass(frozen=True)
class Trial:
    """A judge against GPT-4 under one strategy, over the pairs that both judged."""

    judge: str
    strategy: str
    subset: str  # ALL, or one
    n: int
    right: int
    best_right: int
    difference: Estimate  # of the shares, the judge's minus GPT-4's
    test: McNemar
    holm: float = 1.0

    @property
    def told_apart(self) -> bool:
        return self.holm < ALPHA


Right = Callable[[Verdict], bool]
READINGS: Mapping[str, Right] = {
    "right in both orders": lambda one: one.right_in_both,
    "right in the order as given": lambda one: one.ab == one.gold,
}


# ── reading, and doing the published counts again ────────────────────────────────────────────────────────────


def read_cells(folder: Path) -> dict[Key, Cell]:
    """Every verdict, by subset, judge and strategy."""
    cells: dict[Key, dict[int, Verdict]] = {}
    with (folder / "judgements.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            cell = cells.setdefault(Key(row["subset"], row["judge"], row["strategy"]), {})
            cell[int(row["item"])] = Verdict(row["gold"], row["winner_ab"], row["winner_ba"])
    return dict(cells)


def counts(cell: Cell) -> dict[str, int]:
    """The four counts that were published. `equal` counts verdicts that survive the swap, two missing ones too."""
    verdicts = cell.values()
    return {
        "correct_False": sum(one.ab == one.gold for one in verdicts),
        "correct_True": sum(one.ba == one.gold for one in verdicts),
        "correct_both": sum(one.right_in_both for one in verdicts),
        "equal": sum(one.ab == one.ba for one in verdicts),
    }


def as_published(count: int, n: int) -> str:
    """`33 / 92 = 35.869565217391305%`, to the last digit."""
    return f"{count} / {n} = {count / n * 100}%"


def differences(cells: Mapping[Key, Cell], published: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where our counts and the published ones are not the same text."""
    found = []
    for row in published:
        key = Key(row["subset"], row["judge"], row["strategy"])
        cell = cells.get(key, {})
        for name, count in counts(cell).items():
            if not cell or as_published(count, len(cell)) != row[name]:
                found.append(f"{' '.join(key)}: {name}: found {count} of {len(cell)}; published {row[name]}")
    return found


# ── which judges can be told from GPT-4 ──────────────────────────────────────────────────────────────────────


def trials(cells: Mapping[Key, Cell], right: Right, subsets: Sequence[str]) -> list[Trial]:
    """Every other judge against GPT-4, subset by subset (or ALL), with Holm over all that is returned."""
    found = []
    for subset in subsets:
        for judge, strategy in sorted({(key.judge, key.strategy) for key in cells if key.judge != BEST}):
            best, other = (_pairs(cells, who, strategy, subset) for who in (BEST, judge))
            if shared := sorted(best.keys() & other.keys()):
                outcomes = [(right(best[pair]), right(other[pair])) for pair in shared]
                found.append(_trial(judge, strategy, subset, outcomes))
    adjusted = adjust_p_values([one.test.p_exact for one in found]).holm
    return [replace(one, holm=1.0 if p is None else p) for one, p in zip(found, adjusted, strict=True)]


def _pairs(cells: Mapping[Key, Cell], judge: str, strategy: str, subset: str) -> dict[tuple[str, int], Verdict]:
    """The judge's verdicts, by subset and item."""
    return {
        (key.subset, item): verdict
        for key, cell in cells.items()
        if (key.judge, key.strategy) == (judge, strategy) and subset in (ALL, key.subset)
        for item, verdict in cell.items()
    }


def _trial(judge: str, strategy: str, subset: str, pairs: Sequence[tuple[bool, bool]]) -> Trial:
    only_best, only_other = pairs.count((True, False)), pairs.count((False, True))
    return Trial(
        judge,
        strategy,
        subset,
        n=len(pairs),
        right=sum(other for _, other in pairs),
        best_right=sum(best for best, _ in pairs),
        difference=bonett_price(only_best, only_other, len(pairs)),
        test=mcnemar(only_best, only_other),
    )


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────


def page(cells: Mapping[Key, Cell], published: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The worked example, line by line."""
    subsets = sorted({key.subset for key in cells})
    n_verdicts = sum(len(cell) for cell in cells.values())
    yield from INTRODUCTION.format(verdicts=f"{n_verdicts:,}", rows=len(published)).splitlines()
    yield from ("", f"## Which judges cannot be told from {BEST}", "", *METHOD)
    yield from _over_all(cells)
    yield from _by_subset(cells, subsets)
    yield from ("", f"## The {len(published)} published rows, with their intervals", "", *ROWS_NOTE)
    for subset in subsets:
        yield from ("", f"### {subset}", "", *ROWS_TABLE)
        for row in published:
            if row["subset"] == subset:
                yield _row(row, cells[Key(subset, row["judge"], row["strategy"])])


def _over_all(cells: Mapping[Key, Cell]) -> Iterator[str]:
    yield from ("", "### Over all five subsets", "")
    found = {name: trials(cells, right, [ALL]) for name, right in READINGS.items()}
    for name, rows in found.items():
        alike = [f"{one.judge} under {one.strategy}" for one in rows if not one.told_apart]
        yield f"- {name}: {len(alike)} of {len(rows)} cannot be told apart" + _listed(alike)
    yield from ("", "The first of the two in full:", "", *TRIALS_TABLE)
    for one in found["right in both orders"]:
        yield (
            f"| {one.judge} | {one.strategy} | {one.n} | {_percent(one.right, one.n)} "
            f"| {_percent(one.best_right, one.n)} | {one.test.only_b} | {one.test.only_a} "
            f"| {_points(one.difference)} | {_p(one.test.p_exact)} | {_p(one.holm)} |"
        )


def _by_subset(cells: Mapping[Key, Cell], subsets: Sequence[str]) -> Iterator[str]:
    yield from ("", "### Subset by subset", "")
    found = {name: trials(cells, right, subsets) for name, right in READINGS.items()}
    for name, rows in found.items():
        n_alike = sum(not one.told_apart for one in rows)
        yield f"- {name}: {n_alike} of {len(rows)} cannot be told apart"
    yield from ("", *SUBSETS_NOTE, "")
    yield from (f"| subset | pairs | judge | {' | '.join(found)} |", f"| --- | ---: | --- {'| --- ' * len(found)}|")
    for subset in subsets:
        for judge in sorted({key.judge for key in cells if key.judge != BEST}):
            of_judge = {
                name: [one for one in rows if (one.subset, one.judge) == (subset, judge)]
                for name, rows in found.items()
            }
            n = max(one.n for rows in of_judge.values() for one in rows)
            yield f"| {subset} | {n} | {judge} | {' | '.join(_strategies(rows) for rows in of_judge.values())} |"


def _strategies(rows: Sequence[Trial]) -> str:
    """`2 of 10: CoT, Swap`: the strategies under which the judge can't be told from GPT-4."""
    alike = [one.strategy for one in rows if not one.told_apart]
    return f"{len(alike)} of {len(rows)}{_listed(alike)}"


def _listed(names: Sequence[str]) -> str:
    return f": {', '.join(names)}" if names else ""


def _row(row: Mapping[str, Any], cell: Cell) -> str:
    found, n = counts(cell), len(cell)
    shares = " | ".join(_share(found[name], n) for name in COLUMNS)
    return f"| {row['judge']} | {row['strategy']} | {n} | {shares} |"


def _share(count: int, n: int) -> str:
    """`33: 35.9 % (26.8 to 46.1)`."""
    interval = wilson(count, n)
    assert interval.low is not None and interval.high is not None  # noqa: PT018, S101 - n is above 0
    return f"{count}: {_percent(count, n)} ({100 * interval.low:.1f} to {100 * interval.high:.1f})"


def _percent(count: int, n: int) -> str:
    return f"{100 * count / n:.1f} %"


def _points(found: Estimate) -> str:
    assert found.estimate is not None and found.low is not None and found.high is not None  # noqa: PT018, S101
    return f"{100 * found.estimate:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


INTRODUCTION = """\
# Six judges on trial

<!-- Generated by docs/examples/llmbar.py. Do not edit: change the script, and run it again. -->

LLMBar (princeton-nlp/LLMBar, MIT) is 419 pairs of answers to instructions. People agreed which answer of a pair follows
its instruction; many of the worse ones were written to look better. Six judge models were asked which is better, under
up to 15 strategies, in both orders of showing the pair: {verdicts} verdicts each way. This page does its authors'
statistics again and adds what they leave out: how sure each number is, and which judges really differ.

Of all {rows} published rows `correct_False` (right in the order as given), `correct_True` (right in the swapped
order), `correct_both` and `equal` (the same answer preferred in both orders) come out exactly, to the last digit. With
the data at hand, this writes the page again, or says which counts are not those that were published:

<!-- test: skip (needs the data of LLMBar) -->
```sh
python llmbar.py FOLDER > ../explanation/llmbar.md
```"""

METHOD = (
    "Each judge is held against GPT-4 under the same strategy and on the same pairs, by McNemar's exact test. Holm's",
    "correction is over all comparisons of a reading, and a judge is told apart where p after Holm is below",
    f"{ALPHA}. There are two readings, each tested on its own: right in both orders, and right in the order as given.",
    "A judge that always prefers the answer shown first is right about half of the time in the second, and never in",
    "the first.",
    "",
    "Not to be told apart is not to be as good: it says that so many pairs leave it open.",
)
TRIALS_TABLE = (
    "`won` counts the pairs on which the judge alone is right, `lost` those on which GPT-4 alone is. The difference is",
    "in percentage points, with its 95 % interval by Bonett and Price (see [statistics](statistics.md)); it is not",
    "widened for the number of comparisons.",
    "",
    "| judge | strategy | pairs | right | GPT-4 right | won | lost | difference | p | p by Holm |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
)
SUBSETS_NOTE = (
    "One order alone hides differences: a judge may be right by the place in which the better answer stood. Under",
    "which strategies a judge cannot be told from GPT-4:",
)
ROWS_NOTE = (
    "A count, its share, and the 95 % interval of the share by Wilson. A verdict that names no answer counts as wrong;",
    "in `equal`, two of them count as equal, as in the published rows.",
)
ROWS_TABLE = (
    f"| judge | strategy | n | {' | '.join(f'`{name}`' for name in COLUMNS)} |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
)


def main(words: list[str]) -> int:
    if len(words) != 1:
        sys.stderr.write("llmbar.py FOLDER\n")
        return 2
    folder = Path(words[0])
    cells = read_cells(folder)
    published = json.loads((folder / "published_statistics.json").read_text(encoding="utf-8"))
    if wrong := differences(cells, published):
        sys.stderr.write("\n".join([*wrong, f"{len(wrong)} counts are not those that were published"]) + "\n")
        return 1
    sys.stdout.write("\n".join(page(cells, published)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
