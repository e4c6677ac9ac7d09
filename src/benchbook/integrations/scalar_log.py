"""Scalars into TensorBoard's event files, through the `tensorboard` package and without TensorFlow."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchbook.errors import UsageError

__all__ = ["ScalarLog"]


class ScalarLog:
    """Appends to an event file of its own in `folder`, which may be a trainer's: TensorBoard shows them as one run.

    The file is made with the first values.

    Raises: UsageError where `tensorboard` is not installed.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            from tensorboard.summary.writer import event_file_writer
        except ImportError:
            raise UsageError("writing event files needs an extra: pip install 'benchbook[tensorboard]'") from None
        self._module = event_file_writer
        self._folder = Path(folder)
        self._writer: Any = None

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Write the values by their tags, and see them onto the disk."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        if self._writer is None:
            self._writer = self._module.EventFileWriter(str(self._folder), filename_suffix=".benchbook")
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()])
        self._writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))
        self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
