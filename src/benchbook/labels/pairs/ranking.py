"""Models ranked by judges' verdicts on pairs of their answers: win rates, strengths, ranks, and what judges lean to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp, log1p, sqrt
from typing import Any

import msgspec

from benchbook.errors import UsageError
from benchbook.labels.pairs.rows import PairRow, rows_of
from benchbook.labels.pairs.verdicts import PairedAnswers, Swap
from benchbook.statistics import BradleyTerry, CovariateEffect, Estimate, PairStrength, pair_strengths
from benchbook.statistics.bradley_terry import chance_of
from benchbook.statistics.clusters import mean_of_clusters
from benchbook.statistics.ground import Basis
from benchbook.text import did_you_mean, quoted

_UNIT = 10**12  # of a share: verdicts by probabilities have ten decimals
_FIRST, _LENGTH = "first", "length"
_SEPARATED = "separated_by_covariates"
_COUNTS = ("n_missing", "n_both_orders", "n_changed", "n_tied", "n_both_bad", "n_strong")


class PairedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model by its verdicts. `rate` is the share of them that it won, whoever it met; ties are half a win.

    `strength` and `win` are those of the fit (`statistics.pair_strengths`), None without one, and so are the ranks.
    """

    model: str
    n: int  # verdicts, as they are counted
    rate: Estimate
    strength: Estimate | None
    win: Estimate | None
    rank: int | None
    rank_low: int | None
    rank_high: int | None


class Leaning(msgspec.Struct, frozen=True, kw_only=True):
    """A leaning of a judge, all else the same: `effect` in log odds, `win` as the chance between equals to be
    preferred with it. Null, with a reason, where it can't be told.

    Where a place alone tells who won, `effect` has no bound. `win` is then the plain share of the verdicts, if each
    pair was judged in both orders: no model is shown first more often than another.
    """

    effect: Estimate
    win: Estimate
    p: float | None


class JudgeLeanings(msgspec.Struct, frozen=True, kw_only=True):
    """A judge's leaning to the answer shown first, and to one that is `PairRanking.longer` times as long as the other;
    None where no order, or not every length, is known."""

    judge: str
    n: int  # verdicts in one order
    first: Leaning | None
    length: Leaning | None


class PairRanking(msgspec.Struct, frozen=True, kw_only=True):
    """The models of a set of verdicts, the strongest first; by their rates alone where strengths can't be told.

    `reason` and `parts` say why, as in `statistics.BradleyTerry`. `held_equal` are the covariates of the fit: strengths
    are those at an equal chance to be shown first, and of answers of one length.
    """

    judge: str | None  # None: all of them together
    swap: Swap
    anchor: str | None
    confidence: float
    n_pairs: int  # judged, each once
    n_items: int
    n_missing: int  # without a verdict, or where only both orders count, without one of the two
    n_both_orders: int  # of the others
    n_changed: int  # of these: the verdict changed with the order
    n_tied: int  # said to be a tie, in every order that was judged
    n_both_bad: int  # of these: with the word that both are bad
    n_strong: int  # showings whose verdict counts more than once, as `>>` of Arena-Hard does
    strong: int  # how often that is, at most
    n_itself: int  # a model against itself: left out
    n_without_length: int  # pairs whose lengths are not known: with any, no length is held equal
    longer: float | None  # one step of length: an answer so many times as long as the other
    held_equal: tuple[str, ...]
    models: tuple[PairedModel, ...]
    judges: tuple[JudgeLeanings, ...]
    reason: str | None
    parts: tuple[tuple[str, ...], ...]
    covariance: tuple[tuple[float, ...], ...]  # of the strengths, in the order of `models`


def rank_by_pairs(
    verdicts: Iterable[PairedAnswers],
    *,
    by_judge: bool = False,
    anchor: str | None = None,
    swap: Swap = "tie",
    length: bool = True,
    confidence: float = 0.95,
) -> list[PairRanking]:
    """The ranking of all verdicts; with `by_judge` one of each judge, sorted by name. Empty where there is no verdict.

    `anchor` is the model against which strengths are told. `length` holds the answers' lengths equal, if all are known.

    Raises: UsageError for an anchor that is in no verdict.
    """
    groups: dict[str | None, list[PairedAnswers]] = {}
    for one in verdicts:
        groups.setdefault(one.judge if by_judge else None, []).append(one)
    return [
        _Group(judge, group, swap, length, confidence).ranking(anchor)
        for judge, group in sorted(groups.items(), key=lambda item: item[0] or "")
    ]


class _Group:
    """Verdicts that are ranked together."""

    def __init__(
        self, judge: str | None, group: Sequence[PairedAnswers], swap: Swap, length: bool, confidence: float
    ) -> None:
        self.judge, self.swap, self.confidence = judge, swap, confidence
        self.n_itself = sum(one.model_a == one.model_b for one in group)
        self.pairs = [one for one in group if one.model_a != one.model_b]
        self.rows = list(rows_of(self.pairs, swap))
        self.shown = self.rows if swap == "half" else list(rows_of(self.pairs, "half"))
        self.step = _step(self.shown) if length else None

    def ranking(self, anchor: str | None) -> PairRanking:
        names = sorted({name for one in self.rows for name in (one.model_a, one.model_b)})
        if anchor is not None and anchor not in names:
            of = "" if self.judge is None else f" of {quoted(self.judge)}"
            raise UsageError(f"anchor: no verdict{of} on {quoted(anchor)}{did_you_mean(anchor, names)}")
        fit, held = self._fitted(anchor)
        fitted = {one.name: one for one in fit.models}
        rates = _rates(self.rows, self.confidence)
        models = [_model(name, rates[name], fitted.get(name)) for name in names]
        return PairRanking(
            judge=self.judge,
            swap=self.swap,
            anchor=anchor,
            confidence=self.confidence,
            n_pairs=len(self.pairs),
            n_items=len({one.item for one in self.pairs}),
            **self._counts(),
            strong=max((showing.weight for one in self.pairs for showing in one.showings), default=1),
            n_itself=self.n_itself,
            n_without_length=sum(one.chars_a is None or one.chars_b is None for one in self.pairs),
            longer=None if self.step is None else exp(self.step),
            held_equal=held,
            models=tuple(sorted(models, key=_place([one.name for one in fit.models]))),
            judges=tuple(self._leanings()),
            reason=fit.reason,
            parts=fit.parts,
            covariance=fit.covariance,
        )

    def _counts(self) -> dict[str, int]:
        found: Counter[str] = Counter()
        for one in self.pairs:
            said = [showing for showing in one.showings if showing.won is not None]
            whole = len(said) == len(one.showings)
            found["n_missing"] += not said if self.swap == "half" else not whole
            found["n_both_orders"] += len(said) > 1
            found["n_changed"] += len(said) > 1 and len({showing.won for showing in said}) > 1
            is_tied = bool(said) and all(showing.won == 0.5 for showing in said)
            found["n_tied"] += is_tied
            found["n_both_bad"] += is_tied and any(showing.both_bad for showing in said)
            found["n_strong"] += sum(showing.weight > 1 for showing in said)
        return {name: found[name] for name in _COUNTS}

    def _fitted(self, anchor: str | None) -> tuple[BradleyTerry, tuple[str, ...]]:
        """The fit, with what it holds equal: a covariate that alone tells who won is left out."""
        fit = self._of_covariates(self.rows, anchor)
        told = {name.partition(":")[0] for name in (one.name for one in fit.effects if one.effect.estimate is not None)}
        return fit, tuple(sorted(told))

    def _of_covariates(self, rows: Sequence[PairRow], anchor: str | None) -> BradleyTerry:
        """The fit with all covariates; where these tell who won, with those of one kind; or with none."""
        covariates = self._covariates(rows)
        for kept in ((_FIRST, _LENGTH), (_FIRST,), (_LENGTH,), ()):
            some = {name: values for name, values in covariates.items() if name.startswith(kept)}
            fit = self._fit(rows, some, anchor)
            if fit.reason != _SEPARATED:
                break
        return fit

    def _fit(self, rows: Sequence[PairRow], covariates: Mapping[str, list[float]], anchor: str | None) -> BradleyTerry:
        return pair_strengths(
            [one.model_a for one in rows],
            [one.model_b for one in rows],
            [one.won for one in rows],
            clusters=[one.item for one in rows],
            weights=[one.halves / 2 for one in rows],
            covariates=covariates,
            anchor=anchor,
            confidence=self.confidence,
        )

    def _covariates(self, rows: Sequence[PairRow]) -> dict[str, list[float]]:
        """The covariates of each judge that there are: `first:JUDGE`, `length:JUDGE`."""
        found: dict[str, list[float]] = {}
        for judge in sorted({one.judge for one in rows}):
            mine = [one.judge == judge for one in rows]
            if any(one.first for one, is_mine in zip(rows, mine, strict=True) if is_mine):
                found[f"{_FIRST}:{judge}"] = [float(one.first) * m for one, m in zip(rows, mine, strict=True)]
            if self.step is not None:
                found[f"{_LENGTH}:{judge}"] = [
                    _log_ratio(one) / self.step * m for one, m in zip(rows, mine, strict=True)
                ]
        return found

    def _leanings(self) -> Iterable[JudgeLeanings]:
        """Each judge's leanings, by its verdicts as they were given, each order by itself."""
        covariates = self._covariates(self.shown)
        fit = self._of_covariates(self.shown, None)
        effects = {one.name: one for one in fit.effects}
        n = Counter(one.judge for one in self.shown)
        for judge in sorted(n):
            first, length = (
                self._leaning(effects.get(name), fit) if (name := f"{kind}:{judge}") in covariates else None
                for kind in (_FIRST, _LENGTH)
            )
            if first is not None and first.effect.reason == _SEPARATED and self._both_orders(judge):
                first = msgspec.structs.replace(first, win=self._share_of_first(judge))
            yield JudgeLeanings(judge=judge, n=n[judge], first=first, length=length)

    def _both_orders(self, judge: str) -> bool:
        return all(
            {showing.first for showing in one.showings} == {"a", "b"} for one in self.pairs if one.judge == judge
        )

    def _share_of_first(self, judge: str) -> Estimate:
        """The share of a judge's verdicts that the answer shown first won."""
        rows = (one for one in self.shown if one.judge == judge)
        won = ((_FIRST, one.item, one.halves, one.won if one.first > 0 else 1 - one.won) for one in rows)
        return _shares(won, self.confidence)[_FIRST]

    def _leaning(self, found: CovariateEffect | None, fit: BradleyTerry) -> Leaning:
        if found is None:
            nothing = Basis(fit.n, fit.confidence, fit.method, fit.n_clusters).nothing(fit.reason or _SEPARATED)
            return Leaning(effect=nothing, win=nothing, p=None)
        return Leaning(effect=found.effect, win=_as_chance(found.effect), p=found.p)


def _model(name: str, rate: Estimate, fitted: PairStrength | None) -> PairedModel:
    return PairedModel(
        model=name,
        n=rate.n,
        rate=rate,
        strength=None if fitted is None else fitted.strength,
        win=None if fitted is None else fitted.win,
        rank=None if fitted is None else fitted.rank,
        rank_low=None if fitted is None else fitted.rank_low,
        rank_high=None if fitted is None else fitted.rank_high,
    )


def _place(strongest_first: Sequence[str]) -> Callable[[PairedModel], Any]:
    """The key to sort models by: their place in the fit, or else their rate."""
    places = {name: place for place, name in enumerate(strongest_first)}
    return lambda one: (places.get(one.model, 0), -(one.rate.estimate or 0.0), one.model)


def _rates(rows: Sequence[PairRow], confidence: float) -> dict[str, Estimate]:
    """The share of its verdicts that each model won."""
    won = ((name, one.item, one.halves, share) for one in rows for name, share in _won(one))
    return _shares(won, confidence)


def _won(one: PairRow) -> tuple[tuple[str, float], tuple[str, float]]:
    return (one.model_a, one.won), (one.model_b, 1 - one.won)


def _shares(won: Iterable[tuple[str, str, int, float]], confidence: float) -> dict[str, Estimate]:
    """By name the mean share that was won, of a name, an item, half verdicts and a share each. Those on one item rise
    and fall together."""
    items: dict[str, dict[str, tuple[int, int, int]]] = {}
    n: Counter[str] = Counter()
    for name, item, halves, share in won:
        whole = round(_UNIT * share)
        of_name = items.setdefault(name, {})
        size, total, squares = of_name.get(item, (0, 0, 0))
        of_name[item] = size + halves, total + halves * whole, squares + halves * whole * whole
        n[name] += 1
    return {
        name: replace(_in_shares(mean_of_clusters(Counter(of_name.values()), _UNIT, confidence)), n=n[name])
        for name, of_name in items.items()
    }


def _in_shares(found: Estimate) -> Estimate:
    return replace(
        found,
        estimate=None if found.estimate is None else found.estimate / _UNIT,
        low=None if found.low is None else found.low / _UNIT,
        high=None if found.high is None else found.high / _UNIT,
        standard_error=None if found.standard_error is None else found.standard_error / _UNIT,
    )


def _log_ratio(one: PairRow) -> float:
    return 0.0 if one.chars is None else log1p(one.chars[0]) - log1p(one.chars[1])


def _step(rows: Sequence[PairRow]) -> float | None:
    """The root mean square of the logarithms of the answers' ratios of length; None unless all lengths are known, and
    some differ. Not less their mean: 0 is for answers of one length."""
    if not rows or any(one.chars is None for one in rows):
        return None
    return sqrt(sum(_log_ratio(one) ** 2 for one in rows) / len(rows)) or None


def _as_chance(effect: Estimate) -> Estimate:
    """An effect as the chance between equals: 0.5 is none."""
    win, low, high = (None if one is None else chance_of(one) for one in (effect.estimate, effect.low, effect.high))
    error = None if win is None or effect.standard_error is None else effect.standard_error * win * (1 - win)
    return replace(effect, estimate=win, low=low, high=high, standard_error=error)
