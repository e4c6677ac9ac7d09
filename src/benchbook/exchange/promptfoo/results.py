"""A result of promptfoo, as its files have it: one test case, asked of one provider with one prompt.

Only what is named here is read: settings of providers, headers and the environment, which may hold keys, are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchbook.exchange.conversations import as_text
from benchbook.exchange.json_text import decoded
from benchbook.exchange.ours import said_of
from benchbook.exchange.promptfoo.ours import OfResult

Number = int | float | None
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")

FAILED, ERROR = 1, 2  # of `failureReason`; 0 is none, or not known


class TokenUsage(msgspec.Struct, rename="camel"):
    """Tokens of a call, or of several."""

    total: Number = None
    prompt: Number = None
    completion: Number = None
    cached: Number = None
    num_requests: Number = None


class Assertion(msgspec.Struct):
    """A check of a test case, or a set of them."""

    type: str | None = None
    metric: Any = None
    value: Any = None
    weight: Any = None
    provider: Any = None  # who judges

    def metric_name(self, variables: Mapping[str, Any]) -> str | None:
        """The metric's name, with the values of variables that it names; a number is one that YAML made of it."""
        name = as_text(self.metric)
        return _VARIABLE.sub(lambda found: _value(found, variables), name) if name and "{{" in name else name


class AboutGrading(msgspec.Struct, rename="camel"):
    grader_error: Any = None
    assertion_set: Assertion | None = None


class Grading(msgspec.Struct, rename="camel"):
    """The outcome of a check, or of all of a result's together."""

    # A truth value and a number, but for what older versions took over from a judge's reply.
    passed: Any = msgspec.field(name="pass", default=None)
    score: Any = None
    reason: Any = None
    tokens_used: TokenUsage | None = None
    named_score_weights: dict[str, Any] | None = None
    component_results: list[Grading | None] | None = None
    assertion: Assertion | None = None
    metadata: AboutGrading | None = None


class ProviderResponse(msgspec.Struct, rename="camel"):
    """A provider's answer."""

    output: Any = None
    token_usage: TokenUsage | None = None
    cached: Any = None
    finish_reason: Any = None


class TestOptions(msgspec.Struct):
    """Those of a test case that are read."""

    provider: Any = None  # who judges


class Case(msgspec.Struct):
    """A test case."""

    vars: dict[str, Any] | None = None
    description: Any = None
    options: TestOptions | None = None
    checks: list[Assertion] | None = msgspec.field(name="assert", default=None)


class Prompt(msgspec.Struct):
    raw: Any = None
    label: Any = None
    config: Any = None  # its `provider` judges, where nothing else says who does


class NamedProvider(msgspec.Struct):
    id: Any = None
    label: Any = None


class OfColumn(msgspec.Struct, rename="camel"):
    """A result's column: a prompt with a provider."""

    prompt_idx: int


class Result(OfColumn, rename="camel", kw_only=True):
    """One cell of promptfoo's table; its row is a test case."""

    test_idx: int
    success: bool | None = None
    score: Number = None
    failure_reason: int | None = None
    error: Any = None
    latency_ms: Number = None
    cost: Number = None
    vars: dict[str, Any] | None = None
    prompt: Prompt | str | None = None
    provider: NamedProvider | str | None = None
    response: ProviderResponse | None = None
    grading_result: Grading | None = None
    named_scores: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    test_case: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def ours(self) -> OfResult | None:
        """All that a result that we wrote says beside; None for any other."""
        return said_of(self.metadata, OfResult)

    def case(self, path: Path, where: str) -> Case:
        """The test case. Raises: InputError."""
        if bytes(self.test_case) == b"null":
            return Case()
        return decoded(self.test_case, Case, path, within=f"{where}.testCase")

    @property
    def failed_to_answer(self) -> bool:
        """True if it was the harness, or the provider, that failed: `error` also holds why an assertion failed.

        Versions that had no `failureReason` graded whatever was answered.
        """
        if self.failure_reason is not None:
            return self.failure_reason == ERROR
        return not self.success and self.grading_result is None and bool(self.error)

    @property
    def components(self) -> list[Grading]:
        """The outcome of each check. Those in a set stand beside it, as well as in it."""
        if self.grading_result is None:
            return []
        return [one for one in self.grading_result.component_results or () if one is not None]


def _value(found: re.Match[str], variables: Mapping[str, Any]) -> str:
    value = variables.get(found[1])
    return as_text(value) or "" if isinstance(value, str | int | float) else found[0]
