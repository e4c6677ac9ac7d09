"""The worked example of LLMBar: its counts are the published ones, and its page is what the script writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support import ROOT, shared_data

SCRIPT = ROOT / "docs/examples/llmbar.py"


def test_the_page_is_what_the_script_writes() -> None:
    """The script ends with 1 where one of the 325 published rows does not come out exactly."""
    done = subprocess.run([sys.executable, SCRIPT, shared_data("llmbar")], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == (ROOT / "docs/explanation/llmbar.md").read_text(encoding="utf-8")


def test_a_count_that_is_another_is_named(tmp_path: Path) -> None:
    rows = [("1", "1", "2"), ("1", "1", "1"), ("2", "1", "")]
    lines = [f"Natural,{item},{gold},GPT-4,CoT,{ab},{ba},," for item, (gold, ab, ba) in enumerate(rows)]
    header = "subset,item,gold,judge,strategy,winner_ab,winner_ba,score_1,score_2"
    (tmp_path / "judgements.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    row = (
        '[{"subset": "Natural", "judge": "GPT-4", "strategy": "CoT", "correct_False": "2 / 3 = 66.66666666666666%", '
        '"correct_True": "1 / 3 = 33.33333333333333%", "correct_both": "2 / 3 = 66.66666666666666%", '
        '"equal": "1 / 3 = 33.33333333333333%"}]'
    )
    (tmp_path / "published_statistics.json").write_text(row, encoding="utf-8")
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "Natural GPT-4 CoT: correct_both: found 1 of 3; published 2 / 3 = 66.66666666666666%",
        "1 counts are not those that were published",
    ]
