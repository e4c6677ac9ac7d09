"""Opening a catalog, and the one way in which its database is used.

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

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, insert, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from benchbook.catalog.schema import VERSION, metadata, versions
from benchbook.errors import BenchbookError, ConfigError, UsageError
from benchbook.text import shorten

__all__ = ["FILE_NAME", "Catalog", "default_path", "open_catalog"]


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
    """What the database said, in one line; the rest of SQLAlchemy's text is statement and parameters."""
    original = error.orig if isinstance(error, DBAPIError) else error
    lines = str(original).strip().splitlines() or [type(original).__name__]
    said = lines[0]
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
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            driver_connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("benchbook_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
