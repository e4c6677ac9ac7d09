"""What is said of a cause names the setting that mends it as the user would write it (SPEC R3.6a)."""

from __future__ import annotations

import pytest

from benchbook.ask.unanswered import Who, advice_on


@pytest.mark.parametrize(
    ("prefix", "cause", "parameter", "names"),
    [
        ("model_", "authentication", None, "--model-api-key-env NAME"),
        ("judge_", "parameter", "seed", "--judge-params seed=null"),
        ("judge_", "connection", None, "--judge-base-url"),
        ("judges[1].", "authentication", None, 'judges[1].api_key_env = "NAME"'),
        ("judges[0].", "parameter", "top_p", 'judges[0].params.top_p = "null"'),
        ("judges[0].", "connection", None, "judges[0].base_url"),
        ("judges[0].", "not_found", None, 'judges[0].base_url = "http://h:1/v1"'),
    ],
)
def test_a_setting_is_named_as_it_is_written(prefix: str, cause: str, parameter: str | None, names: str) -> None:
    role = "candidate" if prefix == "model_" else "judge"
    assert names in advice_on(Who(role=role, prefix=prefix, address="http://h:1"), cause, parameter)
