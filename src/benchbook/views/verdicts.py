"""The words for what may be said of a difference, of a rank, and of a p: for every report, and for the page."""

from __future__ import annotations

from collections.abc import Mapping

from benchbook.comparison.difference import Adjustment, Difference, Verdict
from benchbook.comparison.leaderboard import Apart, BestIs, Leaderboard, Place, RankStanding
from benchbook.statistics.ground import REASONS
from benchbook.text import one_line, shorten
from benchbook.views import numbers

VERDICT_WORDS: Mapping[Verdict, str] = {
    "better": "better", "worse": "worse", "same": "the same", "not_told": "can't be told", "no_data": numbers.DASH,
}  # fmt: skip
"""B is …, in a cell."""

VERDICT_SENTENCES: Mapping[Verdict, str] = {
    "better": "{b} is better.",
    "worse": "{b} is worse.",
    "same": "No item differs: the same within {points}.",
    "not_told": "Which is better can't be told.",
    "no_data": "Nothing can be said: no item is in both runs with a score.",
}

TEST_WORDS: Mapping[str, str] = {
    "mcnemar_mid_p": "McNemar's test, mid-p",
    "sign_flip_exact": "sign flips, all of them",
    "sign_flip_draws": "sign flips, drawn",
    "t": "t",
}
"""By what a p is found."""

ADJUSTMENT_WORDS: Mapping[Adjustment, str] = {"holm": "Holm", "tarone_holm": "Tarone-Holm"}

RANK_WORDS: Mapping[RankStanding, str] = {
    "best": "better than all others",
    "among_best": "may be the best",
    "behind": "not the best",
    "alone": "the only run ranked",
    "not_told": "can't be told",
}


def verdict_sentence(found: Difference, b: str = "B") -> str:
    """The verdict on `b`, in a sentence."""
    return VERDICT_SENTENCES[found.verdict].format(b=b, points=numbers.points(found))


def rank_words(found: Place | Apart) -> str:
    """The meaning of a run's rank, and what must be known of it: `may be the best; 3 of 40 items not answered`."""
    if isinstance(found, Apart):
        return f"not ranked: {one_line(found.reason)}"
    word = RANK_WORDS[found.standing]
    return word if found.note is None else f"{word}; {one_line(found.note)}"


BEST_SENTENCES: Mapping[BestIs, str] = {
    "one": "Better than all others here: {runs}.",
    "several": "Can't be told from one another, and the best is among them: {runs}.",
    "none": "No run scores above 0 in any item: none of them is the best.",
    "not_told": "Ranks are by the scores alone: {reason}.",
}
_MOST_NAMED = 10


def best_sentence(found: Leaderboard) -> str | None:
    """Which of several ranked runs is the best, or may be; None where there are no several."""
    if found.best is None:
        return None
    best = [one.run for one in found.places if one.among_best]
    named = ", ".join(shorten(one, 60) for one in best[:_MOST_NAMED])
    more = f" and {len(best) - _MOST_NAMED:,} more" if len(best) > _MOST_NAMED else ""
    reason = REASONS.get(found.reason or "", "they can't be tested")
    return BEST_SENTENCES[found.best].format(runs=f"{named}{more}", reason=reason)


def adjustment(found: Difference) -> str:
    """`by Holm over 6`: how the p that is shown was adjusted; nothing where it was not."""
    return "" if found.adjusted_by is None else f"by {ADJUSTMENT_WORDS[found.adjusted_by]} over {found.n_tests:,}"
