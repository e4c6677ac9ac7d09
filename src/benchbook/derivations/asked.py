"""What samples were asked: the items of a record's own eval set."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from benchbook.derivations.recorded_set import recorded_evalset
from benchbook.evalsets import Item
from benchbook.records.folder import Record

__all__ = ["items_of"]


def items_of(record: Record, samples: Collection[int]) -> Iterator[tuple[int, Item]]:
    """`(sample, item)` for each of these samples, one item at a time.

    Raises: InputError where the record's eval set can't be read; RecordError.
    """
    if not samples:
        return
    with recorded_evalset(record, record.started()) as evalset:
        for sample in sorted(samples):
            yield sample, evalset[sample % len(evalset)]
