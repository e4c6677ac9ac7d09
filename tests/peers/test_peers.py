"""The tools that are tried are those that are pinned."""

from __future__ import annotations

import re

from peers.conftest import Peer
from support import ROOT


def test_the_tools_have_their_pinned_versions(peer: Peer) -> None:
    text = (ROOT / "requirements" / "peers.txt").read_text("utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==([^\s;]+)$", text, re.MULTILINE))  # without those of a newer Python alone
    assert pinned
    assert peer("versions.py", *pinned) == pinned
