"""Arena-Hard's model_judgment/JUDGE/MODEL.jsonl: a line for each question, with one game for each order.

In the first game assistant A is the baseline, and B the model; in the second they have changed places. A `score` is
`A>B` and its like; with `>>`, one that is much better, it counts for three (the tool's own weight) unless said
otherwise. Files of the first version (`question_id`) and those of the second (`uid`, `category`) differ in the names,
and in that some of the second say which model was the baseline.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchbook.errors import InputError
from benchbook.evalsets.lines import filled_lines
from benchbook.exchange.json_text import decoded
from benchbook.labels.pairs.verdicts import NAMELESS, First, PairedAnswers, Place, Showing
from benchbook.text import quoted

STRONG = 3
BASELINE = "baseline"
_MOST_GAMES = 2

# The share of the win that is A's, and whether it is said to be much better.
_SCORES = {
    "A>>B": (1.0, True), "A>B": (1.0, False), "A=B": (0.5, False), "A<B": (0.0, False), "A<<B": (0.0, True),
    "B>>A": (0.0, True), "B>A": (0.0, False), "B=A": (0.5, False), "B<A": (1.0, False), "B<<A": (1.0, True),
}  # fmt: skip


class _Game(msgspec.Struct):
    score: str | None = None


class _Judgment(msgspec.Struct):
    """The part of a line that is read."""

    model: str
    games: list[_Game | None]
    uid: str | int | None = None
    question_id: str | int | None = None
    judge: str | None = None
    baseline: str | None = None
    category: str | None = None


def read_judgments(
    path: str | Path, *, strong: int = STRONG, baseline: str | None = None
) -> Iterator[tuple[Place, PairedAnswers]]:
    """The verdicts of a file, `model_a` for the model; its answers' lengths are in other files.

    `baseline` is the model that answers were held against, where a line does not say. Without it, it is called
    `baseline`, and that of a category by its name: they may differ.

    Raises: InputError naming the line; UsageError where the file can't be read.
    """
    for number, data in filled_lines(path):
        one = decoded(data, _Judgment, path, line=number)
        item = one.uid if one.uid is not None else one.question_id
        if item is None:
            raise InputError(path, line=number, field="uid", found="nothing", expected="uid or question_id")
        if not 1 <= len(one.games) <= _MOST_GAMES:
            found = f"{len(one.games)} games"
            raise InputError(path, line=number, field="games", found=found, expected="one for each order, at most two")
        yield (
            (str(path), number),
            PairedAnswers(
                judge=one.judge or NAMELESS,
                item=str(item),
                model_a=one.model,
                model_b=one.baseline or baseline or _nameless(one.category),
                showings=tuple(_showings(path, number, one.games, strong)),
            ),
        )


def _nameless(category: str | None) -> str:
    return BASELINE if category is None else f"{BASELINE} of {category}"


def _showings(path: str | Path, line: int, games: list[_Game | None], strong: int) -> Iterator[Showing]:
    orders: tuple[First, First] = ("b", "a")  # the baseline is first, then the model
    for game, first in zip(games, orders, strict=False):
        if game is None or game.score is None:
            yield Showing(won=None, first=first)
            continue
        found = _SCORES.get(game.score.strip().strip("[]").upper())
        if found is None:
            expected = "A>>B, A>B, A=B, B>A, B>>A, or null"
            raise InputError(path, line=line, field="games.score", found=quoted(game.score), expected=expected)
        of_a, is_strong = found
        yield Showing(won=of_a if first == "a" else 1 - of_a, first=first, weight=strong if is_strong else 1)
