"""Benchbook records of sources that have what a record needs: items, answers in full, and what a judge said of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from published_judges.records import cje, faithbench, summeval, triviaqa
from published_judges.records.published import PublishedSet

SETS: Mapping[str, Callable[[Path], Iterator[PublishedSet]]] = {
    "triviaqa": triviaqa.sets,
    "summeval": summeval.sets,
    "faithbench": faithbench.sets,
    "cje": cje.sets,
}
"""By the source's key; each takes the source's folder."""
