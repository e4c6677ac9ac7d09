"""A server with S3's API, for all tests of a process; each test has a folder of its own in its bucket."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from benchbook.stores import objects
from s3_server import BUCKET, S3Server, s3_server

_numbers = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[S3Server]:
    with s3_server() as found:
        yield found


@pytest.fixture
def url(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty store, for this process too."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(objects, "_FIRST_WAIT_S", 0.0)
    return f"s3://{BUCKET}/store-{next(_numbers)}"
