"""Verdicts of pairs as judges and arenas give them: a tie is a verdict, and A and B are names of answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from running import benchbook_here

HEAD = "judge,item,winner_ab,winner_ba\n"


def told(folder: Path, *rows: str) -> tuple[int, dict[str, object], str]:
    (folder / "v.csv").write_text(HEAD + "".join(f"x,{row}\n" for row in rows), encoding="utf-8")
    done = benchbook_here("position", "v.csv", "--json", cwd=folder)
    found = json.loads(done.stdout) if done.returncode == 0 else {}
    return done.returncode, found, done.stderr.decode()


@pytest.mark.parametrize("tie", ["tie", "Tie", "TIE"])
def test_a_tie_is_a_verdict(tmp_path: Path, tie: str) -> None:
    """59-ties-in-position: it is neither a flip nor nothing."""
    code, found, said = told(tmp_path, f"a,{tie},{tie}", f"b,1,{tie}", "c,1,1")
    assert code == 0, said
    assert found


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        pytest.param(("A", "B"), ("1", "2"), id="letters"),
        pytest.param(("a", "b"), ("1", "2"), id="small-letters"),
        pytest.param(("1.0", "2.0"), ("1", "2"), id="as-pandas-writes-them"),
    ],
)
def test_other_names_of_the_answers_say_the_same(
    tmp_path: Path, written: tuple[str, str], plain: tuple[str, str]
) -> None:
    """59-ties-in-position: as arenas write them."""
    found = [
        told(tmp_path, f"a,{one},{two}", f"b,{one},{one}", f"c,{two},", f"d,tie,{two}") for one, two in (written, plain)
    ]
    assert [code for code, _, _ in found] == [0, 0], found[0][2]
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("written", ["3", "left", "yes", "0"])
def test_what_is_no_verdict_is_refused_with_those_there_are(tmp_path: Path, written: str) -> None:
    """59-ties-in-position"""
    code, _, said = told(tmp_path, f"a,{written},1")
    assert code == 2
    assert "v.csv:2: winner_ab: found " in said
    assert "tie" in said
