"""How far a record of labels is."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import msgspec

from benchbook.records.labels import LabelBook
from benchbook.records.labels_state import FIELDS, GoldOrigin

__all__ = ["Progress", "progress_of"]


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """`by_field` counts samples by what people say of them: one person's word, agreed, adjudicated, disputed, none."""

    n_samples: int
    n_labels_a_person: int
    by_labeller: dict[str, int]
    by_field: dict[str, dict[str, int]]


def progress_of(book: LabelBook) -> Progress:
    """Counts over the labels that stand."""
    state, samples = book.state, book.started.samples
    given = Counter(one.labeller for one in state.labels() if one.round != "adjudicated")
    by_field = {}
    for field in FIELDS:
        found = Counter(state.gold(sample, field).origin for sample in samples)
        by_field[str(field)] = {origin: found[origin] for origin in get_args(GoldOrigin)}
    return Progress(
        n_samples=len(samples),
        n_labels_a_person=len(samples) * len(FIELDS),
        by_labeller={name: given[name] for name in state.labellers},
        by_field=by_field,
    )
