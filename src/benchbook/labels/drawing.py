"""Draws of samples by stratum. Chance comes from hashes, so that anybody can draw again."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchbook.errors import ConfigError
from benchbook.record.facts import DrawnStratum


@dataclass(frozen=True, slots=True)
class Drawn:
    """`samples` in the order in which they are shown: shuffled, so that the order says nothing of the stratum."""

    samples: list[int]
    strata: dict[str, DrawnStratum]


def draw(stratum_of: Mapping[int, str], n: int, *, seed: int, run_sha256: str) -> Drawn:
    """Draw `n` of the samples, from each stratum as many as its share of them asks for.

    Proportional shares (by largest remainder) keep every sample's chance alike, so that estimates from the labels need
    no weights. Chance comes from hashes of seed, run and sample: no library's next version changes the draw.

    Raises: ConfigError for an `n` below 1, or above the number of samples.
    """
    if not 1 <= n <= len(stratum_of):
        raise ConfigError("n", str(n), f"1 to {len(stratum_of)}, the answers that were scored")
    return draw_allocated(stratum_of, _shares(Counter(stratum_of.values()), n), seed=seed, run_sha256=run_sha256)


def _shares(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """`n` shared out in proportion to `sizes`, in whole numbers: the largest remainders round up."""
    total = sum(sizes.values())
    shares = {name: n * size // total for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(n * sizes[name] % total), name))
    for name in by_remainder[: n - sum(shares.values())]:
        shares[name] += 1
    return shares


def _chance(purpose: str, seed: int, run_sha256: str, sample: int) -> bytes:
    return hashlib.sha256(f"{purpose}/{seed}/{run_sha256}/{sample}".encode()).digest()


Unit = tuple[str, int]
"""An item's id and the number of the repeat, from 0: what a sample is of, in every run of one eval set."""

BOTH, HERE_ALONE = "scored in both", "scored here alone"  # the strata of `draw_of_items`


def draw_of_items(
    unit_of: Mapping[int, Unit], wanted: Iterable[Unit], *, alone: frozenset[int], seed: int, run_sha256: str
) -> Drawn:
    """Draw the samples of those items that chance drew in another run, as far as they are among these scored ones.

    The other run could draw none of the samples in `alone`, for it has no score there. Of these as large a share is
    drawn as came of the others, so that every sample has the same chance, and no estimate needs weights.

    Raises: ConfigError where none of the wanted items is there.
    """
    units = frozenset(wanted)
    drawn = [sample for sample, unit in unit_of.items() if unit in units and sample not in alone]
    if not drawn:
        raise ConfigError("items_of", f"{len(units)} items", "some that this run has a scored answer to")
    here = sorted(
        (sample for sample in unit_of if sample in alone), key=lambda one: _chance("draw", seed, run_sha256, one)
    )
    n_both = len(unit_of) - len(here)
    n_here = (2 * len(here) * len(drawn) + n_both) // (2 * n_both)  # the share, rounded
    strata = {BOTH: DrawnStratum(n_eligible=n_both, n_drawn=len(drawn))}
    if here:
        strata[HERE_ALONE] = DrawnStratum(n_eligible=len(here), n_drawn=n_here)
    shown = sorted([*drawn, *here[:n_here]], key=lambda one: _chance("show", seed, run_sha256, one))
    return Drawn(shown, strata)


def draw_allocated(
    stratum_of: Mapping[int, str],
    n_of: Mapping[str, int],
    *,
    seed: int,
    run_sha256: str,
    earlier: frozenset[int] = frozenset(),
) -> Drawn:
    """Draw so many of each stratum, those that were drawn `earlier` counted in. Chance is as in `draw`.

    Raises: ConfigError for a number that a stratum can't give.
    """
    members: dict[str, list[int]] = {}
    for sample, stratum in stratum_of.items():
        members.setdefault(stratum, []).append(sample)
    chosen = []
    for name in sorted(members):
        had = [sample for sample in members[name] if sample in earlier]
        rest = [sample for sample in members[name] if sample not in earlier]
        wanted = n_of.get(name, 0) - len(had)
        if not 0 <= wanted <= len(rest):
            raise ConfigError("n", str(n_of.get(name, 0)), f"{len(had)} to {len(members[name])} of {name}")
        chosen += [*had, *sorted(rest, key=lambda one: _chance("draw", seed, run_sha256, one))[:wanted]]
    return Drawn(
        sorted(chosen, key=lambda one: _chance("show", seed, run_sha256, one)),
        {name: DrawnStratum(n_eligible=len(members[name]), n_drawn=n_of.get(name, 0)) for name in sorted(members)},
    )
