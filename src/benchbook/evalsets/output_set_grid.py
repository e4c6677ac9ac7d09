"""Question x variant x target: what an evaluation set lacks, and what it has twice (issue 5, item 1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod

from benchbook.evalsets.output_set_sources import Candidate, Key

__all__ = ["Cell", "Grid", "grid_of"]

Cell = tuple[str, str, str]  # question_id, prompt_variant, target_model
_AXES = ("question_id", "prompt_variant", "target_model")


@dataclass(frozen=True, slots=True)
class Grid:
    """`axes` are the values of the three, declared or found, sorted; `counts` the outputs of each cell that has any."""

    axes: Mapping[str, tuple[str, ...]]
    counts: Mapping[Cell, int]
    doubles: Mapping[Key, tuple[str, ...]]  # one sample's identifiers -> the places where it was found, two or more

    @property
    def n_cells(self) -> int:
        return prod(map(len, self.axes.values()))

    @property
    def n_gaps(self) -> int:
        return self.n_cells - len(self.counts)

    def gaps(self, most: int | None = None) -> Iterator[Cell]:
        """The cells without an output, in order. A pattern gone wrong makes a grid of millions: take a few."""
        cells: Iterator[Cell] = product(*self.axes.values()) if self.n_gaps else iter(())  # type: ignore[assignment]
        return islice((cell for cell in cells if cell not in self.counts), most)

    def uneven(self) -> list[tuple[Cell, int]]:
        """The cells that have fewer outputs than the fullest one, and how many they have."""
        full = max(self.counts.values(), default=0)
        return sorted((cell, count) for cell, count in self.counts.items() if count < full)


def grid_of(candidates: Iterable[Candidate], values: Mapping[str, Sequence[str]] | None = None) -> Grid:
    """`values` are those that were declared: one that nothing was found for is a row of gaps."""
    axes = {name: set((values or {}).get(name, ())) for name in _AXES}
    counts: Counter[Cell] = Counter()
    places: dict[Key, list[str]] = defaultdict(list)
    for candidate in candidates:
        places[candidate.key].append(candidate.place)
        if len(places[candidate.key]) == 1:
            counts[candidate.key[:3]] += 1
            for name, value in zip(_AXES, candidate.key, strict=False):
                axes[name].add(value)
    doubles = {key: tuple(found) for key, found in sorted(places.items()) if len(found) > 1}
    return Grid({name: tuple(sorted(found)) for name, found in axes.items()}, counts, doubles)
