"""Names say which version of a thing is meant."""

from __future__ import annotations

import pytest

from benchbook.views.names import set_name

_A, _B = "334e4011" + "a" * 56, "334e4012" + "a" * 56


@pytest.mark.parametrize(
    ("dataset_id", "version", "said"),
    [
        pytest.param("hostile", f"sha256:{_A}", "hostile@334e4011", id="of-a-manifest"),
        pytest.param("hostile", _B, "hostile@334e4012", id="of-the-catalog"),
        pytest.param("hostile", "v2", "hostile@v2", id="a-version-of-its-own"),
        pytest.param("hostile@1", _A, "hostile@1@334e4011", id="what-its-file-is-called-stays"),
        pytest.param("hostile", None, "hostile", id="not-known"),
        pytest.param(None, _A, "–@334e4011", id="without-a-name"),
    ],
)
def test_an_eval_set_is_named_with_its_version(dataset_id: str | None, version: str | None, said: str) -> None:
    assert set_name(dataset_id, version) == said
