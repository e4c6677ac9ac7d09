"""What a command says of a run that ended early."""

from __future__ import annotations

from typing import Any

import click

from benchbook.errors import RunStoppedError, UsageError
from benchbook.text import sentences

__all__ = ["resumable", "say_stopped"]


def resumable(result: Any, command: str) -> str:
    """Why a run was stopped, and how it is resumed."""
    return f"{sentences(result.stop.reason)} Resume: benchbook {command} --resume {result.record.path}"


def say_stopped(result: Any, command: str) -> None:
    """Say why, and with which `command` it is resumed; nothing for a run that was not stopped.

    Raises: RunStoppedError, or UsageError where it was set up wrong, unless a person interrupted it.
    """
    if result.stop.reason is None:
        return
    said = result.stop.reason if result.stop.usage else resumable(result, command)
    if not result.stop.interrupted:
        error = UsageError if result.stop.usage else RunStoppedError
        raise error(f"stopped: {said}")
    click.echo(said, err=True)
