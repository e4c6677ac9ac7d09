"""HELM itself runs a scripted model, and each of its numbers follows from what we read of it.

Its package brings a gigabyte, so it is not among those of `requirements/peers.txt`: BENCHBOOK_PEERS names a folder that
has it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from exchange.helm.test_reading import computed, read
from peers.conftest import Peer


@pytest.mark.parametrize(
    ("method", "trials", "held"),
    [("generation", 2, 20), ("generation", 1, 10), ("multiple_choice_separate_original", 2, 8)],
)
def test_its_numbers_follow(tmp_path: Path, peer: Peer, method: str, trials: int, held: int) -> None:
    """Of four instances, three of which have two perturbed copies where answers are generated."""
    place = peer("helm_run.py", tmp_path, method, str(trials))
    if place is None:
        pytest.skip("HELM is not among the tools")
    log, samples = read(Path(place))
    assert (len(samples), log.header.n_claimed, log.header.repeats, log.notes()) == (held, held, trials, [])
    followed = [one for one in log.header.claims if one.formula is not None]
    for one in followed:
        assert computed(one, samples) == pytest.approx(one.value), one
    assert {one.scorer for one in followed} == {"exact_match", ""}
    if method == "generation":
        assert {0.0, 1.0} <= {one.value for one in followed if "exact_match" in (one.field or one.scorer)}
        assert any("worst robustness" in (one.field or "") for one in followed)
