"""Locks on files and folders, and looking whether there is one."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from benchbook.locks import held, is_locked


def test_to_look_disturbs_nobody(tmp_path: Path) -> None:
    assert not is_locked(tmp_path / "none")
    assert not is_locked(tmp_path)
    with held(tmp_path):
        assert is_locked(tmp_path)
        with held(tmp_path):  # a second one is only not seen
            assert is_locked(tmp_path)
        assert is_locked(tmp_path)
    assert not is_locked(tmp_path)
    with held(tmp_path / "none"):
        pass
    looking = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    assert not is_locked(tmp_path)
    os.close(looking)
