"""Judges as the page and its pictures show them: those of SummEval over the four sides of a summary together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from published_judges.shares import share_alone


@dataclass(frozen=True, slots=True)
class Family:
    """A judge's wins whose truth is known, and how many of them are wrong; bounds are None without any."""

    source: str
    name: str
    wrong: int
    known: int
    low: float | None
    high: float | None
    guess: Mapping[str, Any] | None = None  # of the replies that are published as texts

    @property
    def share(self) -> float | None:
        return self.wrong / self.known if self.known else None


def families_of(results: Mapping[str, Any]) -> dict[str, list[Family]]:
    """By source, in the order of results.json."""
    members: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for one in results["judges"]:
        name = one["judge"].rsplit(" ", 1)[0] if one["source"] == "summeval" else one["judge"]
        members[one["source"], name].append(one)
    found: dict[str, list[Family]] = defaultdict(list)
    for (source, name), of_family in members.items():
        found[source].append(_family(source, name, of_family))
    return dict(found)


def _family(source: str, name: str, members: Sequence[Mapping[str, Any]]) -> Family:
    wrong = sum(one["raw"]["wrong"]["k"] for one in members)
    known = sum(one["raw"]["wrong"]["n"] for one in members)
    found = share_alone(wrong, known)
    guesses = [one["replies"]["guess"] for one in members if one["replies"]["guess"] is not None]
    guess = share_alone(sum(one["k"] for one in guesses), sum(one["n"] for one in guesses)) if guesses else None
    return Family(
        source=source,
        name=name,
        wrong=wrong,
        known=known,
        low=found["low"],
        high=found["high"],
        guess=guess,
    )
