"""Fixtures for signatures by Sigstore."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from sigstore_instance import Instance


@pytest.fixture
def no_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No CI's token, whatever runs these tests; and a cache of Sigstore's own that is empty."""
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "CIRCLECI", "GOOGLE_SERVICE_ACCOUNT_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("id._internal.oidc.ambient._GCP_PRODUCT_NAME_FILE", str(tmp_path / "no machine of theirs"))
    monkeypatch.delenv("SIGSTORE_ID_TOKEN", raising=False)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


@pytest.fixture
def instance() -> Iterator[Instance]:
    """A Sigstore instance on the loopback."""
    import sigstore_instance

    with sigstore_instance.running() as found:
        yield found


@pytest.fixture
def trust(instance: Instance, tmp_path: Path) -> Path:
    """The file with all that a client has to know of it."""
    return instance.trust_config(tmp_path / "trust.json")


@pytest.fixture
def as_ann(no_ci: None, instance: Instance, monkeypatch: pytest.MonkeyPatch) -> str:
    """Ann's token, in the environment."""
    token = instance.token()
    monkeypatch.setenv("SIGSTORE_ID_TOKEN", token)
    return token
