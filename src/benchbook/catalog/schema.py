"""The catalog's tables. A catalog of an older VERSION is emptied when it is opened: its records fill it again (0027).

Real numbers are integers of billionths (`*_nano`, SPEC C2); a null is something that is not known, and never zero.
"""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, MetaData, Table, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

__all__ = [
    "VERSION",
    "StoredText",
    "aggregates",
    "from_stored",
    "metadata",
    "predictions",
    "runs",
    "to_stored",
    "versions",
]


_MARK = "\x1a"
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_STORED = re.compile("\x1a([0-9a-f]{4})")


def to_stored(text: str) -> str:
    """`text` in characters that both databases hold."""
    if text.isascii() and "\x00" not in text and _MARK not in text:
        return text
    return _UNSTORABLE.sub(lambda found: f"{_MARK}{ord(found.group()):04x}", text)


def from_stored(text: str) -> str:
    """The text that `to_stored` was given."""
    return text if _MARK not in text else _STORED.sub(lambda found: chr(int(found[1], 16)), text)


class StoredText(TypeDecorator[str]):
    """TEXT through `to_stored`, ordered by code point: PostgreSQL's own order depends on its locale."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text(collation="C") if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else to_stored(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else from_stored(value)


VERSION = 3  # raised with every change to a table, or to what is indexed

metadata = MetaData()

versions = Table(
    "catalog_versions",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),  # its one row
)

runs = Table(
    "runs",
    metadata,
    Column("run_id", StoredText, primary_key=True),  # the name of the record's folder
    Column("record_path", StoredText, nullable=False),  # from the folder of records
    Column("spec", StoredText),
    Column("state", StoredText, nullable=False),  # running, complete, interrupted, stopped, damaged
    Column("error", StoredText),  # why the record can't be read; null for one that can
    Column("started_utc", StoredText),
    Column("ended_utc", StoredText),
    Column("dataset_id", StoredText),
    Column("dataset_sha256", StoredText),
    Column("model_id", StoredText),
    Column("model_version", StoredText),
    Column("evaluator_model_id", StoredText),
    Column("decision", StoredText),
    Column("primary_name", StoredText),  # the aggregate that the spec ranks runs by
    Column("primary_nano", BigInteger),
    Column("primary_low_nano", BigInteger),  # its confidence interval, where there is one
    Column("primary_high_nano", BigInteger),
    Column("n_items", BigInteger),
    Column("n_planned", BigInteger),  # samples: items times repeats
    Column("n_attempted", BigInteger),
    Column("n_scored", BigInteger),
    Column("n_unscored", BigInteger),
    Column("journal_sha256", StoredText),
    Column("manifest_sha256", StoredText),
    Column("tags", StoredText, nullable=False),  # a JSON array of texts
    Column("predictions_unavailable", StoredText),  # why there is no per-item table (A6); null where there is one
    Column("search", StoredText, nullable=False),  # what free text is looked for in, case-folded
    Column("stamp", StoredText, nullable=False),
    Index("runs_by_started", "started_utc", "run_id"),
    Index("runs_by_primary", "primary_nano", "run_id"),
    Index("runs_by_model", "model_id", "run_id"),
    Index("runs_by_dataset", "dataset_id", "run_id"),
    Index("runs_by_score_on", "dataset_sha256", "spec", "primary_nano", "run_id"),
)

aggregates = Table(
    "aggregates",
    metadata,
    Column("run_id", StoredText, ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("name", StoredText, primary_key=True),  # `pass_rate`; `intervals.pass_rate.low`
    Column("value_nano", BigInteger),  # null for text, for what is null, and for what 64 bits can't hold
    Column("value_text", StoredText),
    Index("aggregates_by_value", "name", "value_nano"),
)

# Source 004's table, under its names. `position` is the sample's place in the plan: with the run it is the key that
# makes appending a row twice no change.
predictions = Table(
    "tunix_run_predictions",
    metadata,
    Column("run_id", StoredText, ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("item_id", StoredText, nullable=False),
    Column("expected", StoredText, nullable=False),
    Column("predicted", StoredText),
    Column("correctness", Double, nullable=False),
    Column("eval_time_ms", BigInteger),
    Column("own", StoredText),  # the run's own keys: a JSON object
    Index("predictions_by_correctness", "run_id", "correctness", "position"),
)
