"""One reply of a judge, in the one form that all sources are brought to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Reading = Literal["strict", "guess", "none", "given"]
"""How the score was had: the reply is what was asked for; something in it looks like a score; nothing does; or the
source has the score alone, and not the reply."""

RIGHT, WRONG = "the right answer", "the wrong answer"
"""In place of models where it is known which of two answers is right, and nothing is said of whose they are."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's score of the answer of `model` to `item`, 0 to 1; None where no score can be read.

    With `against`, it is the score of `model` against that other model: 1 where it is preferred, a half for a tie.
    `people` is the same by people, None where nobody was asked. A judge may be asked twice, with the answers swapped.
    `reply` is what the source has of the judge's own words: a whole reply, a cell of a table, or nothing.
    """

    source: str
    judge: str
    model: str
    item: str
    score: float | None
    people: float | None
    reading: Reading = "given"
    against: str | None = None
    swapped: bool = False
    reply: str = ""

    def __post_init__(self) -> None:
        for share in (self.score, self.people):
            if share is not None and not 0 <= share <= 1:
                raise ValueError(f"a score must lie between 0 and 1, not {share}")
