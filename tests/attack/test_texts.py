"""Any text in any field of any fact: more texts in each field than the tests of every day try."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hostile import TEXTS
from record.test_hostile_texts import RECORDS, facts_are_derived_and_shown, hostile_facts, labels_are_calibrated

pytestmark = pytest.mark.attack

TURNS = 6  # each field gets another text in each


@pytest.mark.parametrize("as_it_was", [False, True], ids=["written-now", "written-before"])
@pytest.mark.parametrize("name", RECORDS)
def test_facts_are_derived_and_shown(name: str, as_it_was: bool, tmp_path: Path, rng: random.Random) -> None:
    for turn, at in enumerate(rng.sample(range(len(TEXTS)), TURNS)):
        folder = tmp_path / str(turn)
        folder.mkdir()
        facts_are_derived_and_shown(folder, name, hostile_facts(name, at), as_it_was=as_it_was)


@pytest.mark.parametrize("as_it_was", [False, True], ids=["written-now", "written-before"])
def test_labels_are_counted_exported_and_calibrated(as_it_was: bool, tmp_path: Path, rng: random.Random) -> None:
    for turn in range(TURNS):
        texts = rng.sample(TEXTS, len(TEXTS))
        labels_are_calibrated(tmp_path / str(turn), texts, as_it_was=as_it_was)
