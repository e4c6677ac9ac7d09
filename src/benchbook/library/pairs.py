"""Models ranked by judges' verdicts on pairs of their answers: `bb.rank_pairs`, as an object that prints well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from benchbook.evalsets.opening import as_file, path_in_memory
from benchbook.exchange.pairs.arena_hard import STRONG
from benchbook.exchange.pairs.reading import PairsForm, read_pairs
from benchbook.labels.pairs.ranking import PairRanking, rank_by_pairs
from benchbook.labels.pairs.verdicts import Swap
from benchbook.library.keywords import Rows
from benchbook.library.twins import in_thread
from benchbook.text import plural

if TYPE_CHECKING:
    import polars


def rank_pairs(
    *file: Rows,
    by: Literal["judge"] | None = None,
    anchor: str | None = None,
    swap: Swap = "tie",
    length: bool = True,
    form: PairsForm | None = None,
    strong: int = STRONG,
    baseline: str | None = None,
    confidence: float = 0.95,
) -> PairRankings:
    """Rank models whose answers judges compared in pairs, as `benchbook judge pairs` does.

    A `file` is a table, AlpacaEval's annotations.json or Arena-Hard's judgments (`form` says which, where the file does
    not), or rows of your own with `item`, `model_a`, `model_b` and `winner`, or `winner_ab` and `winner_ba`. With `by`
    each judge has a ranking of its own. `anchor` is the model that the others are told against. `swap` says what a
    verdict of both orders counts: a win that survives, or else a tie; or `half` a verdict for each order. `length`
    holds the answers' lengths equal, where all are known. `strong` and `baseline` are for Arena-Hard: what a verdict of
    `>>` counts, and the name of the model that the others were held against.

    Raises: InputError naming the line; UsageError where a file can't be read, and for an anchor that is in no verdict.
    """
    with ExitStack() as stack:
        names = [stack.enter_context(as_file(one, "pairs")) for one in file]
        paths = [path_in_memory(name) or name for name in names]
        verdicts = read_pairs(paths, form=form, strong=strong, baseline=baseline)
    return PairRankings(
        rank_by_pairs(
            verdicts,
            by_judge=by == "judge",
            anchor=anchor,
            swap=swap,
            length=length,
            confidence=confidence,
        )
    )


rank_pairs_async = in_thread(rank_pairs)


class PairRankings:
    """One ranking, or one of each judge: `found` has all of it, with the fields that `--json` prints."""

    def __init__(self, found: Sequence[PairRanking]) -> None:
        self.found = tuple(found)

    @cached_property
    def models(self) -> polars.DataFrame:
        """A row for each model of each ranking: win rate, win chance and strength with their intervals, and ranks."""
        import polars as pl

        texts = {"judge": pl.String, "model": pl.String}
        whole = dict.fromkeys(("n", "rank", "rank_low", "rank_high"), pl.Int64)
        names = (f"{name}{end}" for name in ("rate", "win", "strength") for end in ("", "_low", "_high"))
        return pl.DataFrame(list(self._rows()), texts | whole | dict.fromkeys(names, pl.Float64), orient="row")

    def _rows(self) -> Iterator[list[Any]]:
        for one in self.found:
            for model in one.models:
                row: list[Any] = [one.judge, model.model, model.n, model.rank, model.rank_low, model.rank_high]
                for found in (model.rate, model.win, model.strength):
                    row += [None] * 3 if found is None else [found.estimate, found.low, found.high]
                yield row

    def __str__(self) -> str:
        from benchbook.views.pairs import pairs_lines

        return "\n".join(pairs_lines(self.found))

    def _repr_html_(self) -> str:
        from benchbook.views.fragment import fragment
        from benchbook.views.pairs import pairs_document

        return fragment(pairs_document(self.found))

    def __repr__(self) -> str:
        n = len({model.model for one in self.found for model in one.models})
        return f"<PairRankings of {plural(n, 'model')} by {plural(sum(one.n_pairs for one in self.found), 'pair')}>"
