"""A leaderboard as a table, and in sentences what is to be known beside it."""

from __future__ import annotations

from collections.abc import Iterator

from benchbook.comparison.leaderboard import Leaderboard
from benchbook.statistics.results import WARNINGS
from benchbook.text import shorten
from benchbook.views import comparison_numbers, numbers
from benchbook.views.tables import Column, Table
from benchbook.views.words import plural

__all__ = ["leaderboard_notes", "leaderboard_table"]


_RANK_TESTS = {
    "all_pairs_holm_mid_p": "the mid-p McNemar test",
    "all_pairs_holm_t": "t of the paired difference",
}


def leaderboard_table(found: Leaderboard) -> Table:
    """The runs from best to worst."""
    rows = tuple(
        (
            numbers.count(one.rank),
            shorten(one.run, 80),
            shorten(one.model or numbers.DASH, 40),
            numbers.score(one.score),
            numbers.DASH if one.rank_low is None else f"{one.rank_low} to {one.rank_high}",
            numbers.DASH if one.p_against_best is None else comparison_numbers.p_value(one.p_against_best),
            "yes" if one.among_best else "no",
        )
        for one in found.places
    )
    columns = (
        Column("Rank", number=True), Column("Run"), Column("Model"), Column("Score", number=True),
        Column(f"Rank, {numbers.limit('rate', found.confidence)} sure", number=True),
        Column("p against best", number=True), Column("May be the best"),
    )  # fmt: skip
    return Table(f"Ranked over {plural(found.n_items, 'item')}", columns, rows)


def leaderboard_notes(found: Leaderboard) -> Iterator[str]:
    """How ranks were told apart, who may be the best, and what to know of single runs."""
    best = [shorten(one.run, 60) for one in found.places if one.among_best]
    if len(found.places) > 1:
        test, pairs = _RANK_TESTS.get(found.method, found.method), plural(found.n_pairs, "pair")
        yield f"A run ranks above another where that is shown: {pairs} of runs, by {test}, p by Holm over all of them."
        if len(best) > 1:
            yield f"Can't be told from one another, and the best is among them: {', '.join(best)}."
        else:
            yield f"Better than all others here: {best[0]}."
    if found.n_left_out:
        yield f"{plural(found.n_left_out, 'item')} left out: not every run has a score for them."
    yield from (f"{shorten(one.run, 60)}: {one.note}." for one in found.places if one.note is not None)
    for one in found.apart:
        yield f"Not ranked: {shorten(one.run, 60)}, score {numbers.score(one.score, 'none')}; {one.reason}."
    yield from (f"Beware: {WARNINGS.get(warning, warning)}." for warning in found.warnings)
