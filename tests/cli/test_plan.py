"""`benchbook plan`: words, numbers, exit codes."""

from __future__ import annotations

import json

from running import benchbook


def test_words() -> None:
    done = benchbook("plan", "--baseline", "0.7", "--detect", "0.05", "--discordance", "0.15")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert text.startswith("461 items, the same for both runs: 922 answers in all\n")
    assert "mid-p McNemar" in text
    assert "5 % lost, 10 % won" in text


def test_json() -> None:
    done = benchbook(
        "plan", "--baseline", "0.7", "--detect", "0.05", "--unpaired", "--clusters", "10", "--icc", "0.1", "--json"
    )
    found = json.loads(done.stdout)
    assert (found["n_items"], found["clusters"], found["method"]) == (2377, 238, "two_proportions")


def test_wrong_use_ends_with_2() -> None:
    done = benchbook("plan", "--baseline", "0.98", "--detect", "0.05")
    assert done.returncode == 2
    assert b"detect: found 0.05" in done.stderr
