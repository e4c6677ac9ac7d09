"""A reader a source: from its files to judgements. What a file says is data, never a path, a command or a format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from published_judges.judgement import Judgement
from published_judges.readers import (
    alpaca_eval,
    cje,
    faithbench,
    judgebench,
    llmbar,
    pandalm,
    summeval,
    triviaqa,
    wildbench,
    wmt,
)

READERS: Mapping[str, Callable[[Path], Iterator[Judgement]]] = {
    "triviaqa": triviaqa.read,
    "summeval": summeval.read,
    "pandalm": pandalm.read,
    "faithbench": faithbench.read,
    "wmt": wmt.read,
    "judgebench": judgebench.read,
    "llmbar": llmbar.read,
    "cje": cje.read,
    "alpaca_eval": alpaca_eval.read,
    "wildbench": wildbench.read,
}
"""By the source's key; each takes the source's folder."""
