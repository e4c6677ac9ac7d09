"""How a judge errs, by class and by length of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchbook.decisions.calibration_results import Bias, SliceBias
from benchbook.statistics import Estimate, adjust_p_values, paired_difference, paired_permutation_test, rank_correlation

__all__ = ["Pair", "bias_of", "clusters_of"]

MAX_VALUES = 20  # of one slice; more is free text
LENGTH = "length of the answer"


@dataclass(frozen=True, slots=True)
class Pair:
    """People's score and the judge's of one sample's field."""

    people: int
    judge: int
    answer_chars: int
    slices: tuple[tuple[str, str], ...]
    cluster: str | None


def bias_of(pairs: Sequence[Pair], confidence: float, seed: int) -> Bias:
    """Judge minus people: over all, by slice, and with the length. Holm's correction is over all slices shown."""
    found = [_slice_bias(name, value, members, confidence, seed) for name, value, members in _slices(pairs)]
    adjusted = adjust_p_values([one.p for one in found]).holm
    errors = [float(pair.judge - pair.people) for pair in pairs]
    lengths = [float(pair.answer_chars) for pair in pairs]
    return Bias(
        overall=_difference(pairs, confidence),
        slices=tuple(
            SliceBias(slice=one.slice, value=one.value, difference=one.difference, p=one.p, p_holm=p)
            for one, p in zip(found, adjusted, strict=True)
        ),
        with_length=rank_correlation(lengths, errors, confidence).spearman,
    )


def _slice_bias(name: str, value: str, pairs: Sequence[Pair], confidence: float, seed: int) -> SliceBias:
    test = paired_permutation_test(
        [pair.judge - pair.people for pair in pairs], clusters=clusters_of(pairs), seed=seed, n_draws=20_000
    )
    return SliceBias(slice=name, value=value, difference=_difference(pairs, confidence), p=test.p, p_holm=None)


def _difference(pairs: Sequence[Pair], confidence: float) -> Estimate:
    return paired_difference(
        [pair.people for pair in pairs],
        [pair.judge for pair in pairs],
        clusters=clusters_of(pairs),
        confidence=confidence,
    )


def clusters_of(pairs: Sequence[Pair]) -> list[str | None] | None:
    """Labels of clusters, or None where every sample stands alone."""
    return [pair.cluster for pair in pairs] if any(pair.cluster is not None for pair in pairs) else None


def _slices(pairs: Sequence[Pair]) -> Iterator[tuple[str, str, list[Pair]]]:
    names = sorted({name for pair in pairs for name, _ in pair.slices})
    for name in names:
        by_value: dict[str, list[Pair]] = {}
        for pair in pairs:
            for given, value in pair.slices:
                if given == name:
                    by_value.setdefault(value, []).append(pair)
        if 1 < len(by_value) <= MAX_VALUES:
            yield from ((name, value, by_value[value]) for value in sorted(by_value))
    yield from ((LENGTH, words, members) for words, members in _by_length(pairs))


def _by_length(pairs: Sequence[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    """Three groups of about the same size, told apart by length; fewer where lengths are alike."""
    lengths = sorted(pair.answer_chars for pair in pairs)
    if not lengths or lengths[0] == lengths[-1]:
        return
    cuts = sorted({lengths[(len(lengths) - 1) * part // 3] for part in (1, 2)} - {lengths[-1]})
    edges = [-1, *cuts, lengths[-1]]
    for low, high in pairwise(edges):
        words = f"up to {high} characters" if low < 0 else f"{low + 1} to {high} characters"
        yield words, [pair for pair in pairs if low < pair.answer_chars <= high]
