"""Logs that chance makes, through each form and back: nothing is other than it was, but for what was told as lost."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from attack.tally import Tally
from benchbook.exchange.importing import Wanted, import_log
from made_logs import Made
from random_logs import logs
from round_trips import FORMS, trip

pytestmark = pytest.mark.attack

LOGS = 400


@pytest.mark.parametrize("form", FORMS)
def test_a_log_goes_there_and_back(
    form: str, rng: random.Random, share: Callable[[int], int], tally: Callable[[str, str], Tally]
) -> None:
    counted = tally("a log is exported and imported again", form)

    @seed(rng.randrange(1 << 32))
    @settings(
        max_examples=share(LOGS), database=None, phases=[Phase.generate], deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(logs())
    def go(log: Made) -> None:
        with tempfile.TemporaryDirectory() as folder:
            record = import_log(log, Wanted(runs=f"{folder}/runs")).record
            counted.count("; ".join(trip(record, form, Path(folder))) or None)

    go()
