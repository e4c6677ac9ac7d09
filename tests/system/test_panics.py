"""What Rust says of a panic: held back in a process of ours, and nowhere else."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import pytest

from benchbook.system import panics
from benchbook.system.panics import panics_hidden

PANIC = b"\nthread 'async-executor-1' (14056) panicked at crates/x.rs:772:45:\nindex out of bounds\nnote: run\n"


@pytest.fixture(autouse=True)
def ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panics._Process, "is_ours", True)
    monkeypatch.setattr(threading, "active_count", lambda: 1)


def said(capfd: pytest.CaptureFixture[str]) -> str:
    with panics_hidden(), panics_hidden():
        os.write(2, b"a log\n")
        os.write(2, PANIC)
    os.write(2, b"later\n")
    return capfd.readouterr().err


def test_what_others_say_on_standard_error_meanwhile_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd) == "a log\nlater\n"


def test_nothing_is_held_back_in_a_process_of_others(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panics._Process, "is_ours", False)
    assert said(capfd) == f"a log\n{PANIC.decode()}later\n"


def test_nothing_is_held_back_where_other_threads_speak(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert said(capfd) == f"a log\n{PANIC.decode()}later\n"


def test_it_is_put_back_where_the_block_fails(capfd: pytest.CaptureFixture[str]) -> None:
    with suppress(ValueError), panics_hidden():
        os.write(2, PANIC)
        raise ValueError
    assert said(capfd) == "a log\nlater\n"
