"""The catalog's tables, how one is opened, and the one way in which its database is used.

A catalog of an older VERSION is emptied when it is opened: its records fill it again (0027), and the marks beside them
(0045). Real numbers are integers of billionths (`*_nano`, SPEC C2); a null is something that is not known, and never
zero.

Reads and writes go through `Catalog.read` and `Catalog.write`: a transaction each, whose errors come out as
Benchbook's own, without a statement, a parameter or a password in them.

SQLite: WAL, so that readers and the writer don't wait for each other; a writer takes its lock at the start (a reader
that turns writer half-way would fail at once, whatever the time-out) and waits a minute for another writer.
PostgreSQL: psycopg 3, READ COMMITTED; writers of one run wait for each other at its row in `runs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Double,
    Engine,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.types import TypeDecorator, TypeEngine

from benchbook.errors import BenchbookError, ConfigError, UsageError
from benchbook.text import first_words_of, shorten
from benchbook.wal import into_wal

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


VERSION = 9  # raised with every change to a table, or to what is indexed

metadata = MetaData()
_ALSO_SORTED = ("spec", "evaluator_model_id", "decision", "state", "ended_utc", "n_attempted", "n_tokens", "cost_nano")

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
    Column("spec_sha256", StoredText),  # two rubrics of one name may be two
    Column("samples_are", StoredText),  # answers, or evaluations by judges; null for an evaluator that is not known
    Column("state", StoredText, nullable=False),  # record.standing.RunState
    Column("error", StoredText),  # why it can't be read, or that it stands under another's name; else null
    Column("started_utc", StoredText),
    Column("ended_utc", StoredText),
    Column("dataset_id", StoredText),
    Column("dataset_sha256", StoredText),
    Column("model_id", StoredText),
    Column("model_version", StoredText),
    Column("evaluator_model_id", StoredText),
    Column("judges", StoredText, nullable=False),  # a JSON array of their names
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
    Column("n_evaluations", BigInteger),  # by judges, without probes; null for answers
    Column("n_tokens", BigInteger),  # of models and judges together
    Column("cost_nano", BigInteger),  # dollars, of both
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
    *(Index(f"runs_by_{name}", name, "run_id") for name in _ALSO_SORTED),
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

# What people wrote of runs, found quickly. It lies in a file beside the records (record/marks.py), which holds. The run
# of a mark need not be there (yet).
marks = Table(
    "marks",
    metadata,
    Column("run_id", StoredText, primary_key=True),
    Column("version", StoredText, nullable=False),
    Column("archived", Integer, nullable=False),
    Column("search", StoredText, nullable=False),  # as that of `runs`
)

mark_tags = Table(
    "mark_tags",
    metadata,
    Column("run_id", StoredText, ForeignKey("marks.run_id", ondelete="CASCADE"), primary_key=True),
    Column("tag", StoredText, primary_key=True),
    Index("mark_tags_by_tag", "tag", "run_id"),
)

# Source 004's table, under its names. `position` is the sample's place in the plan: with the run it is the key that
# makes appending a row twice no change.
predictions = Table(
    "tunix_run_predictions",
    metadata,
    Column("run_id", StoredText, ForeignKey("runs.run_id", ondelete="CASCADE"), primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("item_id", StoredText, nullable=False),
    Column("expected", StoredText),  # null for an item without, of an evaluator that needs none
    Column("predicted", StoredText),
    Column("correctness", Double, nullable=False),
    Column("eval_time_ms", BigInteger),
    Column("own", StoredText),  # the run's own keys: a JSON object
    Index("predictions_by_correctness", "run_id", "correctness", "position"),
)


FILE_NAME = "catalog.sqlite"
BUSY_SECONDS = 60
_SETTING = "catalog url"
_EXPECTED = "a file's path, sqlite:///PATH or postgresql://HOST/DATABASE"
_ADVISORY_LOCK = 0x62656E6368  # any number of our own: "bench"


class Catalog:
    """An open catalog. `where` is its address without credentials. Safe to share between threads."""

    def __init__(self, engine: Engine, where: str, secrets: frozenset[str] = frozenset()) -> None:
        self._engine = engine
        self._secrets = secrets
        self.where = where

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads. Raises: BenchbookError where the database fails."""
        with self._told(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that writes: all of it holds, or, after an error, nothing.

        Raises: BenchbookError where the database fails, or another writer holds it for more than a minute.
        """
        with self._told(), self._engine.connect() as connection:
            connection = connection.execution_options(benchbook_writes=True)
            with connection.begin():
                yield connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise BenchbookError(f"{self.where}: {_reason(error, self._secrets)}") from None

    def close(self) -> None:
        self._engine.dispose()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def default_path(runs: str | Path) -> Path:
    """Where the catalog of a folder of records lies, if no other is named."""
    return Path(runs) / FILE_NAME


def open_catalog(address: str | Path) -> Catalog:
    """The catalog at `address` (a file's path or a URL), with its tables; empty, where an older Benchbook made it.

    Raises: ConfigError for an address that is none, or one whose driver is not installed; UsageError for a catalog of a
    newer Benchbook; BenchbookError where the database can't be reached or is none.
    """
    url = _url_of(address)
    catalog = Catalog(_engine_for(url), _shown(url), _secrets_in(url))
    try:
        _make_tables(catalog)
    except BaseException:
        catalog.close()
        raise
    return catalog


def _make_tables(catalog: Catalog) -> None:
    """Today's tables, where there are none, or older ones: nothing is in them that is not in a record."""
    with catalog.read() as connection:
        _check_encoding(connection, catalog.where)
        if _version_of(connection, catalog.where) == VERSION:
            return
    with catalog.write() as connection:
        if connection.dialect.name == "postgresql":  # in SQLite the writer is alone already
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
        version = _version_of(connection, catalog.where)
        if version != VERSION:  # nobody else made them meanwhile
            if version:  # else a table of one of these names is somebody else's
                metadata.drop_all(connection)
            metadata.create_all(connection, checkfirst=False)
            connection.execute(insert(versions).values(version=VERSION))


def _version_of(connection: Connection, where: str) -> int:
    """0 for a database without a catalog. Raises: UsageError for a catalog that a newer Benchbook made."""
    if not inspect(connection).has_table(versions.name):
        return 0
    version: int = connection.scalar(select(func.max(versions.c.version))) or 0
    if version > VERSION:
        raise UsageError(
            f"{where}: the catalog is of version {version}, and this Benchbook knows {VERSION}: update Benchbook, or "
            "rebuild into another database"
        )
    return version


def _check_encoding(connection: Connection, where: str) -> None:
    if connection.dialect.name == "postgresql":
        encoding = connection.scalar(text("SHOW server_encoding"))
        if encoding != "UTF8":
            raise ConfigError(_SETTING, f"{where}, whose encoding is {encoding}", "a database in UTF8")


# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────────


def _url_of(address: str | Path) -> URL:
    words = str(address)
    if isinstance(address, Path) or not re.match(r"[\w+]+://|(sqlite|postgres)\w*[:+]", words):
        return URL.create("sqlite", database=words)
    try:
        url = make_url(words)
    except (ArgumentError, ValueError):
        raise ConfigError(_SETTING, "an address that can't be read", _EXPECTED) from None
    match url.drivername:
        case "sqlite":
            return _checked_file(url)
        case "postgresql" | "postgresql+psycopg":
            if not url.database:
                raise ConfigError(_SETTING, f"{_shown(url)} without a database", _EXPECTED)
            return url.set(drivername="postgresql+psycopg")
    raise ConfigError(_SETTING, f"the kind {shorten(url.drivername, 30)!r}", _EXPECTED)


def _checked_file(url: URL) -> URL:
    if url.host or url.query or not url.database or url.database.startswith((":memory:", "file:")):
        raise ConfigError(_SETTING, "a SQLite address that names no plain file", _EXPECTED)
    return url


def _shown(url: URL) -> str:
    if url.drivername == "sqlite":
        return str(url.database)
    port = f":{url.port}" if url.port else ""
    return f"postgresql://{url.host or ''}{port}/{url.database or ''}"


def _secrets_in(url: URL) -> frozenset[str]:
    """Whatever a driver could repeat of the address' password, as it was written and as it is meant."""
    values = [str(url.password)] if url.password else []
    for name, value in url.query.items():
        if "password" in name.lower():
            values += [value] if isinstance(value, str) else list(value)
    return frozenset(form for value in values for form in (value, quote(value, safe=""), quote_plus(value)) if form)


def _reason(error: SQLAlchemyError, secrets: frozenset[str]) -> str:
    """The database's own message, in one line; the rest of SQLAlchemy's text is statement and parameters."""
    original = error.orig if isinstance(error, DBAPIError) else error
    said = first_words_of(original)
    for secret in sorted(secrets, key=len, reverse=True):
        said = said.replace(secret, "***")
    return shorten(said, 300)


# ── engines ──────────────────────────────────────────────────────────────────────────────────────────────────


def _engine_for(url: URL) -> Engine:
    if url.drivername == "sqlite":
        return _sqlite(url)
    try:
        return create_engine(url, hide_parameters=True, pool_pre_ping=True, connect_args={"client_encoding": "utf8"})
    except ModuleNotFoundError:
        raise ConfigError(_SETTING, f"{_shown(url)}, and psycopg is not installed", "benchbook[postgres]") from None


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url, hide_parameters=True, connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(driver_connection: Any, _: Any) -> None:
        # Without this, sqlite3 begins transactions by itself, and not before DDL: making the tables would not be one.
        driver_connection.isolation_level = None
        into_wal(driver_connection)
        for pragma in ("synchronous = NORMAL", "foreign_keys = ON"):
            driver_connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("benchbook_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
