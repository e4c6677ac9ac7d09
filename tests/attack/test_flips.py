"""Any one bit of any file of any record, turned over: whoever reads or verifies it finds that."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from attack.tally import Tally
from attack.targets import MAKE, Target, derive_once, made

pytestmark = pytest.mark.attack

FLIPS = 800
DERIVED_EACH_TIME = 20  # of them, so many are held against files that are derived for them alone


@pytest.mark.parametrize("name", MAKE)
def test_a_flipped_bit_is_found(
    name: str, tmp_path: Path, rng: random.Random, share: Callable[[int], int], tally: Callable[[str, str], Tally]
) -> None:
    """Each file as often as any other, whatever its size: small ones hold what matters."""
    target = made(name, tmp_path)
    counted = tally("a bit is flipped", name)
    for _ in range(share(DERIVED_EACH_TIME)):
        counted.count(flipped(target, rng))
    with pytest.MonkeyPatch.context() as patch:
        derive_once(patch)
        for _ in range(share(FLIPS)):
            counted.count(flipped(target, rng))
    assert target.check(target.folder) == []


def flipped(target: Target, rng: random.Random) -> str | None:
    """Flip a bit, look, and flip it back; the words for it where nothing was found."""
    path = rng.choice(target.files())
    whole = path.read_bytes()
    at, bit = rng.randrange(len(whole)), rng.randrange(8)
    changed = bytearray(whole)
    changed[at] ^= 1 << bit
    path.write_bytes(changed)
    found = target.check(target.folder)
    path.write_bytes(whole)
    where = path.relative_to(target.folder)
    if not found:
        return f"{where}: byte {at}, bit {bit}: nothing was found"
    if any("Traceback" in one for one in found):
        return f"{where}: byte {at}, bit {bit}: {found[0]}"
    return None
