"""SPEC P1: which names mean one model, where some are typed without a version."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from benchbook.errors import ConfigError
from benchbook.evaluators.protocol.findings import SameModel, with_versions

JUDGE = {"acme": "openai/acme@1"}  # what a run declares by itself: the judge's name, and its id
TWO = {"a1": "openai/acme@1", "a2": "openai/acme@2"}


@pytest.mark.parametrize(
    ("table", "one", "other", "same"),
    [
        pytest.param(JUDGE, "openai/acme", "acme", True, id="the-judges-id-without-its-version"),
        pytest.param(JUDGE, "openai/acme", "openai/acme@1", True, id="and-with-it"),
        pytest.param(JUDGE, "openai/acme@2", "acme", False, id="another-version"),
        pytest.param(JUDGE, "azure/acme", "acme", False, id="another-provider"),
        pytest.param(JUDGE, "openai/acme-mini", "acme", False, id="a-name-that-only-begins-alike"),
        pytest.param({}, "openai/acme", "openai/acme@1", False, id="no-table-names-it"),
        pytest.param({"openai/acme@1": "snapshot"}, "openai/acme", "snapshot", True, id="the-alias-has-the-version"),
        pytest.param({"snapshot": "acme@1"}, "acme", "snapshot", True, id="a-name-that-is-no-id"),
        pytest.param({"s": "local/m@sha256:ab"}, "local/m", "s", True, id="the-hash-of-weights-is-a-version"),
        pytest.param({"s": "local/m@x@1"}, "local/m", "s", False, id="the-version-is-what-stands-behind-the-last-at"),
        pytest.param(TWO, "openai/acme", "a1", False, id="of-two-versions-none"),
        pytest.param({**TWO, "openai/acme@2": "openai/acme@1"}, "openai/acme", "a2", True, id="two-that-are-one"),
        pytest.param({**TWO, "openai/acme": "a2"}, "openai/acme", "a2", True, id="what-the-table-says-goes-first"),
        pytest.param({**TWO, "openai/acme": "a2"}, "openai/acme", "a1", False, id="and-nothing-else"),
        pytest.param({"openai/acme@1": "openai/acme"}, "openai/acme", "openai/acme@1", True, id="declared-already"),
        pytest.param({"latest": "openai/acme", **JUDGE}, "latest", "acme", True, id="an-alias-of-it-without-version"),
    ],
)
def test_a_name_without_a_version_is_the_one_that_the_table_names(
    table: Mapping[str, str], one: str, other: str, same: bool
) -> None:
    found = SameModel(with_versions(table, {one, other}))
    assert found.are_same(one, other) is same


def test_what_the_table_says_stays_as_it_is() -> None:
    table = {**JUDGE, "latest": "openai/acme"}
    assert with_versions(table, {"other", "openai/acme"}) == {**table, "openai/acme": "openai/acme@1"}


def test_a_circle_is_refused_whatever_names_there_are() -> None:
    with pytest.raises(ConfigError, match="a circle"):
        with_versions({"a": "b", "b": "a"}, ())
