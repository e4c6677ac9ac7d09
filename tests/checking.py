"""One check, read from TOML as a user would write it, for the tests of checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchbook.evaluators.checks import CheckResult, ChecksSpec, read_checks, score_item

__all__ = ["HEAD", "judged", "one_check"]

HEAD = 'name = "mine"\nversion = 1\nabout = "A test."\n'


def one_check(kind: str, settings: str = "") -> ChecksSpec:
    """A spec of one check, called `it`; `settings` are its further lines."""
    return read_checks(f'{HEAD}[[checks]]\nname = "it"\nkind = "{kind}"\n{settings}\n')


def judged(kind: str, answer: str | None, settings: str = "", item: Mapping[str, Any] | None = None) -> CheckResult:
    return score_item(one_check(kind, settings), item or {}, answer).results["it"]
