"""Every parser, and what chance makes of its corpus: a value or a no, in bounded time and memory, and nothing else."""

from __future__ import annotations

import random
import resource
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from attack.tally import Tally
from fuzzing import hostile
from parsers import PARSERS, Parser
from test_parsers import SEEDS

pytestmark = pytest.mark.attack

INPUTS = 15  # times those of every run of the tests
MOST_SECONDS = 20  # of this process, for one input of half a megabyte at most, on whatever machine
MOST_MB = 1_000  # more than before


@pytest.mark.parametrize("name", PARSERS)
def test_any_bytes_are_read_or_refused(
    name: str, tmp_path: Path, rng: random.Random, share: Callable[[int], int], tally: Callable[[str, str], Tally]
) -> None:
    parser = PARSERS[name]
    counted = tally("a parser's input is hostile", name)
    folder = tmp_path / "each"
    folder.mkdir()
    broke: set[str] = set()
    most_mb = peak_mb() + MOST_MB

    @seed(rng.randrange(1 << 32))
    @settings(
        max_examples=share(parser.examples * INPUTS), database=None, phases=[Phase.generate], deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(hostile(SEEDS[name]))
    def read(data: bytes) -> None:
        fault = fault_of(parser, data, folder)
        if fault is not None and fault not in broke:  # one example of each is kept
            broke.add(fault)
            (tmp_path / f"{len(broke)}").write_bytes(data)
            fault = f"{fault}: {tmp_path / f'{len(broke)}'}"
        counted.count(fault)

    read()
    if peak_mb() > most_mb:
        counted.count(f"the process grew to {peak_mb()} MB")


def fault_of(parser: Parser, data: bytes, folder: Path) -> str | None:
    began = time.process_time()
    try:
        parser.read(data, folder)
    except parser.says_no:
        pass
    except BaseException as error:  # whatever it is, it is told
        at = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-3:]]
        return f"{type(error).__name__}: {str(error)[:200]} at {' < '.join(reversed(at))}"
    took = time.process_time() - began
    return f"took {took:.0f} s" if took > MOST_SECONDS else None


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
