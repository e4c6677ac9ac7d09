"""One server over SQLite and one over a real PostgreSQL, for all tests that only read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catalog.conftest import BOTH, empty_schema, fresh_address, postgresql
from running import write_items
from server.making import Api, api_over, copied, make_records

__all__ = ["fresh_address", "postgresql"]


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_records(tmp_path_factory.mktemp("records"))


@pytest.fixture(scope="session", params=BOTH)
def api(request: pytest.FixtureRequest, records: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server that nobody writes to."""
    folder = tmp_path_factory.mktemp("reading")
    address = str(folder / "catalog.sqlite")
    if request.param == "postgresql":
        address = request.getfixturevalue("postgresql")
    inputs = folder / "inputs"
    inputs.mkdir()
    write_items(inputs / "items.jsonl", 2)
    (inputs / "link.jsonl").symlink_to("/etc/passwd")
    opened = api_over(copied(records, folder), address, inputs=inputs)
    yield opened
    opened.app.stop()


@pytest.fixture
def writing(records: Path, tmp_path: Path, fresh_address: Callable[[], str]) -> Iterator[Api]:
    """A server of the test's own, to be written to."""
    opened = api_over(copied(records, tmp_path), fresh_address())
    yield opened
    opened.app.stop()


@pytest.fixture
def writing_on_both(records: Path, tmp_path: Path, postgresql: str) -> Iterator[list[Api]]:
    """A server over SQLite and one over PostgreSQL, of the test's own, with the same records."""
    addresses = {"sqlite": str(tmp_path / "catalog.sqlite"), "postgresql": empty_schema(postgresql)}
    opened = [api_over(copied(records, tmp_path / name), address) for name, address in addresses.items()]
    yield opened
    for one in opened:
        one.app.stop()
