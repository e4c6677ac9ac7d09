"""The library where an event loop runs already, as in a notebook: results, errors, interruptions."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.ask.work import Progress, run_async
from benchbook.errors import UsageError
from library.in_notebooks import ROWS, doubling, kindly

GRID: dict[str, Any] = {"spec": "contains@v1", "experiment": "g", "grid": {"model": [doubling]}}


async def _within(call: Callable[[], Any]) -> Any:
    """What a cell of a notebook does."""
    return call()


@pytest.mark.parametrize(
    ("call", "score"),
    [
        pytest.param(
            lambda: bb.run(evalset=ROWS, model=doubling, judge=kindly).aggregates.aggregates.pass_rate, 0.75, id="run"
        ),
        pytest.param(lambda: bb.score(ROWS, model=doubling).aggregates.primary_score, 0.75, id="score"),
        pytest.param(lambda: bb.grid(evalset=ROWS, **GRID)[0].aggregates.primary_score, 0.75, id="grid"),
        pytest.param(lambda: bb.score(_half, ROWS, model=doubling).aggregates.primary_score, 0.5, id="awaited-scorer"),
    ],
)
def test_a_call_gives_the_same_in_a_loop_and_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any], score: float
) -> None:
    monkeypatch.chdir(tmp_path)
    assert float(asyncio.run(_within(call))) == score
    assert float(call()) == score


@bb.scorer(name="half")
async def _half(item: Any, answer: str) -> float:
    await asyncio.sleep(0)
    return 0.5


def test_a_twin_is_awaited_in_the_callers_own_loop(tmp_path: Path) -> None:
    loops = set()

    async def answer(prompt: str) -> dict[str, Any]:
        loops.add(asyncio.get_running_loop())
        return doubling(prompt)

    async def main() -> None:
        loops.add(asyncio.get_running_loop())
        run = await bb.run_async(evalset=ROWS, model=answer, judge=kindly, runs=tmp_path, run_id="r")
        labels = await bb.label_async("r", out=tmp_path / "labels", n=4, runs=tmp_path)
        labels.give([{"sample": one, "accuracy_score": 2} for one in labels.sheet["sample"]], labeller="ana")
        assert (await bb.calibrate_async(run, labels)).card.run_id == "r"

    asyncio.run(main())
    assert len(loops) == 1


def test_an_error_is_raised_where_it_was_called(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.jsonl"):
        asyncio.run(_within(lambda: bb.run(evalset="gone.jsonl", model=doubling, judge=kindly, runs=tmp_path)))


Model = Callable[[str], Awaitable[dict[str, Any]]]


def _interrupting(after: int) -> tuple[Model, Callable[[Progress], None]]:
    """A model during whose call, the first after so many, a person presses Ctrl-C; it answers once that was seen, by
    the handler of progress."""
    n, seen = 0, asyncio.Event()

    async def answer(prompt: str) -> dict[str, Any]:
        nonlocal n
        n += 1
        if n == after:
            os.kill(os.getpid(), signal.SIGINT)
            await seen.wait()
        return doubling(prompt)

    def told(progress: Progress) -> None:
        if progress.stopping:
            seen.set()

    return answer, told


@pytest.mark.parametrize("in_a_loop", [True, False])
def test_an_interruption_stops_resumably(tmp_path: Path, in_a_loop: bool) -> None:
    handler = signal.getsignal(signal.SIGINT)
    answering, told = _interrupting(3)

    def call() -> bb.Run:
        return bb.score(ROWS, model=answering, max_connections=1, runs=tmp_path, run_id="r", on_progress=told)

    stopped = asyncio.run(_within(call)) if in_a_loop else call()
    assert stopped.stopped == "interrupted by Ctrl-C"
    assert stopped.aggregates.n_unanswered == 5
    assert signal.getsignal(signal.SIGINT) is handler
    again = bb.resume("r", model=answering, runs=tmp_path)
    assert (again.stopped, again.aggregates.n_correct) == (None, 6)
    assert bb.verify("r", runs=tmp_path).holds


def test_a_second_interruption_ends_at_once(tmp_path: Path) -> None:
    async def never(prompt: str) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(3600)
        return ""

    def again(progress: Progress) -> None:
        if progress.stopping:
            os.kill(os.getpid(), signal.SIGINT)

    def call() -> bb.Run:
        return bb.score(ROWS, model=never, max_connections=1, runs=tmp_path, on_progress=again)

    assert asyncio.run(_within(call)).stopped == "interrupted by Ctrl-C"


def test_what_asks_nobody_is_interrupted_as_anything_else() -> None:
    async def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(3600)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(_within(lambda: run_async(work())))
