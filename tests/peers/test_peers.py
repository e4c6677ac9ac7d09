"""The tools that are tried are those that are pinned."""

from __future__ import annotations

from peers.conftest import Peer
from support import ROOT


def test_the_tools_have_their_pinned_versions(peer: Peer) -> None:
    lines = (ROOT / "requirements" / "peers.txt").read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    assert pinned
    assert peer("versions.py", *pinned) == pinned
