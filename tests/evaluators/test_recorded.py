"""Recorded outputs come in as they are needed, whatever the size of their file."""

from __future__ import annotations

import json
from pathlib import Path

from benchbook.ask.work import Resume
from benchbook.evalsets import open_evalset
from benchbook.evaluators.recorded_outputs import find_columns, imported_samples
from benchbook.record.facts import Reply
from benchbook.record.journal import JournalWriter
from running import write_items

N = 40


def test_an_output_waits_only_until_its_sample_is_taken(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    rows = [{"item_id": f"i{n}", "output": f"answer {n}"} for n in reversed(range(N)) if n != 7]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    folder = tmp_path / "journal"
    folder.mkdir()
    resume = Resume(N, lambda facts: False)
    resume.mark_done(3)
    order = []
    with (
        open_evalset(write_items(tmp_path / "items.jsonl", N)) as evalset,
        JournalWriter(folder) as journal,
    ):
        columns = find_columns(outputs, {}, evalset, 1)
        for sample in imported_samples(outputs, "jsonl", columns, evalset, 1, resume, journal):
            order.append(sample)
            facts = resume.begun.pop(sample, [])
            assert resume.begun == {}
            # 3 is finished: nothing is imported again. 7 is not in the file, and whoever asks for it hears so.
            assert len(facts) == (sample not in (3, 7))
            assert all(isinstance(fact, Reply) for fact in facts)
    assert order == [n for n in reversed(range(N)) if n != 7] + [7]
