"""cimo-labs/cje: four policies' answers to a thousand prompts, graded by a judge, and some by a stronger model.

The stronger model's grade is called an oracle; no person graded anything here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from published_judges.judgement import Judgement
from published_judges.readers.files import json_lines


def read(folder: Path) -> Iterator[Judgement]:
    for policy, draw in draws(folder):
        yield Judgement(
            source="cje",
            judge="the sample's judge",
            model=policy,
            item=draw["prompt_id"],
            score=draw["judge_score"],
            people=draw.get("oracle_label"),
            reply=json.dumps(draw["judge_score"]),
        )


def draws(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each policy's answers, with the stronger model's grade where it gave one, there or in the probe."""
    sample = folder / "examples/arena_sample"
    for path in sorted(sample.glob("fresh_draws/*_responses.jsonl")):
        policy = path.stem.removesuffix("_responses")
        probe = sample / f"probe_slice/{policy}_probe.jsonl"
        probed = {(one["prompt_id"], one["response"]): one for one in json_lines(probe)} if probe.exists() else {}
        for draw in json_lines(path):
            graded = probed.get((draw["prompt_id"], draw["response"]), draw)
            yield policy, {**draw, "oracle_label": graded.get("oracle_label")}
