"""Samples and scores that a file does not hold, and the values that a number could have whatever they were."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from benchbook.exchange.audit.computing import COUNTS, column_of
from benchbook.exchange.audit.formulas import SPREAD
from benchbook.exchange.audit.kept import DOUBLED, ENTRY, FAILED, KeptSamples
from benchbook.exchange.audit.result import ReasonCode
from benchbook.exchange.log import Claim, LogHeader
from benchbook.text import plural

# Counts of samples, whoever scored them.
OF_ALL = frozenset({"n_samples", "n_errors", "n_completed"})


@dataclass(frozen=True, slots=True)
class Unknown:
    """Scores that the file does not hold: of `samples` that are absent, and of `entries` of held ones.

    `scored` are those that were made of all samples, by the log; None where it does not say so.
    """

    samples: int
    entries: int
    scored: int | None = None

    @property
    def n(self) -> int:
        return self.samples + self.entries

    def more(self, n_held: int) -> tuple[int, int]:
        """How many scores there are beside `n_held`: at least, and at most."""
        if self.scored is None or not n_held <= self.scored <= n_held + self.n:
            return 0, self.n
        return self.scored - n_held, self.scored - n_held


def unknown_of(claim: Claim, header: LogHeader, kept: KeptSamples) -> Unknown:
    """The scores that a number may have been made of, and that are not in the file. A failed sample has none."""
    samples = max(0, (header.n_claimed or 0) - kept.n_held)
    column = column_of(kept, claim)
    of_several = column is None and not claim.scorer and bool(kept.scores)
    if claim.formula in OF_ALL or claim.field is not None or of_several:
        return Unknown(samples, 0)
    states = bytes(kept.n) if column is None else column.states
    entries = sum(
        not state & ENTRY and not flag & (FAILED | DOUBLED) for state, flag in zip(states, kept.flags, strict=True)
    )
    return Unknown(samples, entries, None if claim.formula in COUNTS else _scored_by_the_log(claim, header))


def _scored_by_the_log(claim: Claim, header: LogHeader) -> int | None:
    """How many values a number was made of, where the log says it in another."""
    said = [
        one.value
        for one in header.claims
        if one.formula == "n_scored"
        and (one.scorer, one.reducer, one.only) == (claim.scorer, claim.reducer, claim.only)
    ]
    return int(said[0]) if len(said) == 1 and said[0] is not None and said[0] == int(said[0]) else None


def why_unknown(unknown: Unknown, kept: KeptSamples) -> tuple[ReasonCode, str]:
    """The code, and how many are absent in words: `79 of 80 samples are not in the file`."""
    if unknown.samples:
        n_claimed = kept.n_held + unknown.samples
        words = f"{unknown.samples:,} of {plural(n_claimed, 'sample')} {_are(unknown.samples)} not in the file"
        if unknown.entries:
            words += f", and {unknown.entries:,} that {_are(unknown.entries)} there without a score"
        return "samples_absent", words
    if not kept.n_held:
        return "samples_absent", "the file holds no sample"
    have = "has" if unknown.entries == 1 else "have"
    return "scores_absent", f"{unknown.entries:,} of {plural(kept.n_held, 'sample')} {have} no score in the file"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def possible(
    claim: Claim, header: LogHeader, kept: KeptSamples, unknown: Unknown, held: tuple[float, int]
) -> tuple[float | None, float | None]:
    """The least and the greatest value that are possible; None where nothing is known. `held` is the value of those
    that are in the file, and of how many it is."""
    value, n = held
    if claim.formula in OF_ALL:
        return value, value + unknown.samples
    if claim.formula in COUNTS:
        return value, value + unknown.n + kept.count(FAILED)
    if claim.formula in SPREAD:
        return 0.0, None
    if claim.formula in ("max", "min"):
        return (value, None) if claim.formula == "max" else (None, value)
    scale = _scale(claim, header, kept)
    if scale is None or claim.formula not in ("mean", "median", "share_of_ones", "share_passed"):
        return None, None
    low, high = scale
    if (
        claim.formula == "mean"
        and claim.only is None
        and claim.reducer in (None, "mean")
        and kept.n_items == kept.n
        and not claim.of_repeats
    ):
        reaches = [(value * n + more * end) / (n + more) for more in unknown.more(n) for end in scale]
        return min(reaches), max(reaches)
    return low, high


def _scale(claim: Claim, header: LogHeader, kept: KeptSamples) -> tuple[float, float] | None:
    """The scorer's scale, wide enough for what is held."""
    if claim.formula in ("share_of_ones", "share_passed"):
        return 0.0, 1.0
    scorer = next((one for one in header.scorers if one.name == claim.scorer), None)
    column = column_of(kept, claim)
    scale = None if column is None else column.scale(scorer)
    if column is None or scale is None:
        return None
    held = [one for one in column.values if not isnan(one)]
    return min([scale[0], *held]), max([scale[1], *held])
