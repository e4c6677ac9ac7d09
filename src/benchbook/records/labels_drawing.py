"""Which samples people are asked about: drawn by stratum and seed, the same ones wherever it is done again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from benchbook.errors import ConfigError
from benchbook.records.facts import Stratum

__all__ = ["Drawn", "draw"]


@dataclass(frozen=True, slots=True)
class Drawn:
    """`samples` in the order in which they are shown: shuffled, so that the order says nothing of the stratum."""

    samples: list[int]
    strata: dict[str, Stratum]


def draw(stratum_of: Mapping[int, str], n: int, *, seed: int, run_sha256: str) -> Drawn:
    """Draw `n` of the samples, from each stratum as many as its share of them asks for.

    Proportional shares (by largest remainder) keep every sample's chance alike, so that estimates from the labels need
    no weights. Chance comes from hashes of seed, run and sample: no library's next version changes the draw.

    Raises: ConfigError for an `n` below 1, or above the number of samples.
    """
    if not 1 <= n <= len(stratum_of):
        raise ConfigError("n", str(n), f"1 to {len(stratum_of)}, the samples that a judge scored")
    members: dict[str, list[int]] = {}
    for sample, stratum in stratum_of.items():
        members.setdefault(stratum, []).append(sample)
    wanted = _shares({name: len(samples) for name, samples in members.items()}, n)
    chosen = [
        sample
        for name, samples in members.items()
        for sample in sorted(samples, key=lambda one: _chance("draw", seed, run_sha256, one))[: wanted[name]]
    ]
    return Drawn(
        sorted(chosen, key=lambda one: _chance("show", seed, run_sha256, one)),
        {name: Stratum(n_eligible=len(members[name]), n_drawn=wanted[name]) for name in sorted(members)},
    )


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
