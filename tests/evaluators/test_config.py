"""Settings: one typed object, out of a TOML file and flags of the same names (DESIGN, Interfaces)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from benchbook.ask.settings import PATHS, checked_params
from benchbook.canonical import unicode_json
from benchbook.cli.settings import given_settings, setting_options
from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.evaluators.settings import SETTINGS, RunConfig, config_from_mapping, read_config_file
from running import config, run
from scripted_server import always_good, running

THREE = {"evalset": "items.jsonl", "model": "openai/m@1", "judge": "openai/j@1"}
NAMES = [name for section in SETTINGS.values() for name in section]


def toml(folder: Path, text: str) -> Path:
    path = folder / "run.toml"
    path.write_text(text, encoding="utf-8")
    return path


def from_flags(*words: str) -> dict[str, Any]:
    """The settings that a command gets from its words."""
    found: dict[str, Any] = {}

    @click.command()
    @setting_options
    def command(**options: Any) -> None:
        found.update(given_settings(options))

    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return found


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_setting_is_explained_and_every_explanation_is_of_a_setting() -> None:
    assert sorted(NAMES) == sorted(RunConfig.__struct_fields__)


def test_no_setting_can_hold_a_key() -> None:
    assert [name for name in NAMES if "key" in name] == ["model_api_key_env", "judge_api_key_env"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('model = "openai/x@2"', ["--model", "openai/x@2"], id="text"),
        pytest.param("repeats = 3", ["--repeats", "3"], id="int"),
        pytest.param("confidence = 0.95", ["--confidence", "0.95"], id="float"),
        pytest.param("benchmark = true", ["--benchmark"], id="flag"),
        pytest.param("judge_json_schema = true", ["--judge-json-schema"], id="flag-or-null"),
        pytest.param('max_cost_usd = "1.50"', ["--max-cost-usd", "1.50"], id="money"),
        pytest.param("model_input_price = 0.4", ["--model-input-price", "0.4"], id="money-as-a-number"),
        pytest.param(
            'unmeasured = ["latency", "tokens"]', ["--unmeasured", "latency", "--unmeasured", "tokens"], id="list"
        ),
        pytest.param(
            'model_params = {seed = 1, stop = ["x"], top_p = 0.5, user = "me"}',
            ["--model-params", "seed=1", "--model-params", 'stop=["x"]', "--model-params", "top_p=0.5",
             "--model-params", "user=me"],
            id="parameters",
        ),
        pytest.param('output_columns = {output = "said"}', ["--output-columns", "output=said"], id="columns"),
    ],
)  # fmt: skip
def test_a_file_and_flags_say_the_same(tmp_path: Path, text: str, words: list[str]) -> None:
    by_file = config_from_mapping(THREE | read_config_file(toml(tmp_path, text)), "file")
    by_flags = config_from_mapping(THREE | from_flags(*words), "flags")
    assert by_file == by_flags
    assert by_file != config_from_mapping(THREE, "neither")


# Each judge of a panel has settings of its own: on the command line --judge is repeated. `batch submit` has a batch's.
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("judges", "batch")])
def test_every_setting_has_a_flag(name: str) -> None:
    assert from_flags() == {}
    option = f"--{name.replace('_', '-')}"
    shown = CliRunner().invoke(setting_options(click.command()(lambda **_: None)), ["--help"]).output
    assert f"{option} " in shown or f"{option}\n" in shown


def test_reports_none_means_no_reports_in_both(tmp_path: Path) -> None:
    assert from_flags("--reports", "none") == {"reports": None}
    assert read_config_file(toml(tmp_path, 'reports = "none"')) == {"reports": None}


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        pytest.param("modle", "model", id="swapped-letters"),
        pytest.param("judge-params", "judge_params", id="a-hyphen"),
        pytest.param("max_connection", "max_connections", id="a-letter-less"),
        pytest.param("eval_set", "evalset", id="two-words"),
        pytest.param("model_api_key", "model_api_key_env", id="a-key"),
        pytest.param("xyz", "one of those that `benchbook init` writes", id="nothing-near"),
    ],
)
def test_an_unknown_name_gets_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(ConfigError) as error:
        config_from_mapping(THREE | {name: "x"}, "run.toml")
    assert str(error.value) == f"run.toml: {name}: found a setting that is not known; expected {nearest}"


@pytest.mark.parametrize("name", THREE)
def test_the_three_that_must_be_there_are_asked_for(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^options: {name}: found nothing; expected a value"):
        config_from_mapping({key: value for key, value in THREE.items() if key != name}, "options")


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        pytest.param("repeats", 0, "a whole number, 1 or more", id="too-few"),
        pytest.param("repeats", 1_001, "a whole number, 1000 or less", id="too-many"),
        pytest.param("repeats", 1.5, "a whole number", id="a-fraction"),
        pytest.param("repeats", "three", "a whole number", id="a-word"),
        pytest.param("max_connections", 0, "a whole number, 1 or more", id="no-connection"),
        pytest.param("max_retries", -1, "a whole number, 0 or more", id="fewer-than-none"),
        pytest.param("timeout_ms", 0, "a whole number, 1 or more", id="no-time"),
        pytest.param("confidence", 0.5, "a number, more than 0.5", id="no-confidence"),
        pytest.param("confidence", 1, "a number, less than 1.0", id="certainty"),
        pytest.param("confidence", "nan", "a number", id="no-number"),
        pytest.param("model", 4, "text", id="a-number-for-a-text"),
        pytest.param("unmeasured", "latency", "a list", id="a-text-for-a-list"),
        pytest.param("model_params", ["seed"], "a table", id="a-list-for-a-table"),
        pytest.param("benchmark", "perhaps", "true or false", id="neither-true-nor-false"),
        pytest.param("max_cost_usd", "much", "decimal", id="no-amount"),
        pytest.param("max_cost_usd", "NaN", "dollars, 0 or more", id="not-a-number"),
        pytest.param("max_cost_usd", "-1", "dollars, 0 or more", id="a-debt"),
        pytest.param("judge_output_price", "Infinity", "dollars, 0 or more", id="without-end"),
    ],
)
def test_a_wrong_value_is_named_with_what_would_be_right(name: str, value: Any, expected: str) -> None:
    with pytest.raises(ConfigError) as error:
        config_from_mapping(THREE | {name: value}, "run.toml")
    found, _, wanted = str(error.value).partition("; expected ")
    assert found.startswith(f"run.toml: {name}: found ")
    assert expected in wanted
    assert not wanted.startswith("Expected")


@pytest.mark.parametrize(
    ("value", "usd"), [("0.10", Decimal("0.10")), (0.1, Decimal("0.1")), (1, Decimal(1)), ("0", Decimal(0))]
)
def test_money_is_exact(value: Any, usd: Decimal) -> None:
    assert config_from_mapping(THREE | {"max_cost_usd": value}, "run.toml").max_cost_usd == usd


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param(b"model = \n", "no TOML", id="broken"),
        pytest.param(b'model = "a"\nmodel = "b"\n', "no TOML", id="twice"),
        pytest.param(b'model = "\xff"\n', "byte 0xff", id="no-utf-8"),
    ],
)
def test_a_file_that_can_not_be_read_is_named(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "run.toml").write_bytes(content)
    with pytest.raises(InputError, match=says) as error:
        read_config_file(tmp_path / "run.toml")
    assert str(error.value).startswith(f"{tmp_path / 'run.toml'}: ")
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.toml: can't be read"):
        read_config_file(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    "name", ["evalset", "prompt_template", "outputs", "model_path", "judge_path", "cache", "runs", "reports"]
)
def test_a_files_paths_are_relative_to_it(tmp_path: Path, name: str) -> None:
    values = read_config_file(toml(tmp_path, f'{name} = "sub/x"\n'))
    assert values == {name: str(tmp_path / "sub" / "x")}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('evalset = "a\\u0000b"', "evalset"),
        ('[grid]\nprompt_template = ["a", "a\\u0000b"]', "prompt_template"),
        ('[[judges]]\npath = "a\\u0000b"', "judges[0].path"),
    ],
)
def test_a_path_that_no_file_can_have_is_refused(tmp_path: Path, text: str, name: str) -> None:
    with pytest.raises(InputError) as error:
        read_config_file(toml(tmp_path, text + "\n"))
    said = f"{tmp_path / 'run.toml'}: {name}: found 'a\\u0000b'; expected a path, which has no NUL character"
    assert str(error.value) == said


@pytest.mark.parametrize("name", RunConfig.__struct_fields__)
@pytest.mark.parametrize("value", ["\udcff", ["\udcff"], {"\ud800": "\udcff"}, [{"model": "\udcff"}] * 2], ids=ascii)
def test_half_a_character_in_any_setting_is_named_or_kept_as_its_escape(name: str, value: Any) -> None:
    """So bytes come that are no UTF-8, on a command line. A path may hold any: it names a file."""
    base = {one: given for one, given in THREE.items() if one != name and (one, name) != ("judge", "judges")}
    try:
        config = config_from_mapping(base | {name: value}, "run.toml")
    except UsageError:
        return
    kept = getattr(config, name)
    if name in (*PATHS, "spec", "against"):
        assert kept == value
    else:
        unicode_json(kept)


def test_an_absolute_path_and_a_shipped_sets_name_stay_as_they_are(tmp_path: Path) -> None:
    values = read_config_file(toml(tmp_path, 'evalset = "@support_v1"\nruns = "/srv/runs"\n'))
    assert values == {"evalset": "@support_v1", "runs": "/srv/runs"}


def test_what_is_no_path_is_not_touched(tmp_path: Path) -> None:
    text = 'model = "openai/m@1"\njudge = "openai/j@1"\nrun_id = "x"\nmodel_base_url = "http://h/v1"\n'
    values = read_config_file(toml(tmp_path, text))
    assert values["model"] == "openai/m@1"
    assert values["model_base_url"] == "http://h/v1"
    assert values["run_id"] == "x"


# ── parameters ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("params", "sent"),
    [
        pytest.param({}, {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42}, id="the-defaults-of-R2.3"),
        pytest.param({"seed": 7}, {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 7}, id="another-value"),
        pytest.param({"seed": None, "top_p": None}, {"temperature": 0, "max_tokens": 1024}, id="null-is-not-sent"),
        pytest.param(
            {"stop": ["\n"]},
            {"temperature": 0, "top_p": 1, "max_tokens": 1024, "seed": 42, "stop": ["\n"]},
            id="one-more",
        ),
    ],
)
@pytest.mark.parametrize("role", ["candidate", "judge"])
def test_parameters_are_sent_and_recorded_as_they_are(
    tmp_path: Path, role: str, params: dict[str, Any], sent: dict[str, Any]
) -> None:
    setting = "model_params" if role == "candidate" else "judge_params"
    with running(always_good) as server:
        result = run(tmp_path, server, 1, **{setting: params})
        (request,) = server.asked[role]
    assert {name: value for name, value in request.items() if name not in ("model", "messages")} == sent
    manifest = json.loads(result.record.manifest.read_bytes())
    prefix = "" if role == "candidate" else "evaluator_"
    assert manifest[f"{prefix}generation_params_effective"] == sent
    four = {name: sent.get(name) for name in ("temperature", "top_p", "max_tokens", "seed")}
    assert manifest[f"{prefix}generation_params"] == four  # R7.1 asks for these by name; null: left out on purpose


@pytest.mark.parametrize(
    "name",
    ["messages", "model", "stream", "response_format", "base_url", "api_base", "Api-Base", "API_KEY", "http_client",
     "client_args", "proxy", "custom_llm_provider"],
)  # fmt: skip
def test_a_parameter_that_would_change_more_than_the_generation_is_refused(tmp_path: Path, name: str) -> None:
    with running(always_good) as server, pytest.raises(ConfigError, match=f"model_params: found {name}"):
        run(tmp_path, server, 1, model_params={name: "x"})


@pytest.mark.parametrize(
    "name",
    ["Host", "host", "HOST", "Content-Length", "content-type", "Transfer-Encoding", "Connection", "TE", "Trailer",
     "Upgrade", "Keep-Alive", "Expect", "Proxy-Authorization", "Proxy-Connection", "Via", "Forwarded",
     "X-Forwarded-For", "X-Real-IP", "HTTP2-Settings", "X-HTTP-Method-Override", "Authorization", "authorization",
     "api-key", "X-Api-Key", "x-goog-api-key", "Cookie", "Set-Cookie", "X-Auth-Token", "Host ", "Ho\nst", ":authority",
     "", "x y", "X-\u212aey"],
)  # fmt: skip
def test_a_header_that_says_where_a_request_goes_or_who_sends_it_is_refused(name: str) -> None:
    params = {"extra_headers": {"X-Title": "mine", name: "x"}}
    one, other = {"model": "openai/j@1"}, {"model": "openai/k@1", "params": params}
    for own, place in (
        ({"judge": "openai/j@1", "model_params": params}, "model_params"),
        ({"judge": "openai/j@1", "judge_params": params}, "judge_params"),
        ({"judges": [one, other], "panel_rule": "majority"}, "judges[1].params"),
    ):
        with pytest.raises(ConfigError) as refused:
            config_from_mapping({"evalset": "x", "model": "openai/m@1", **own}, "config.toml")
        assert str(refused.value).startswith(f"config.toml: {place}.extra_headers: found ")


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ("Host: x", "found str; expected a table of headers"),
        ({"X-Title": "a\r\nHost: b"}, "a value in printable ASCII"),
        ({"X-Title": 1}, "a value in printable ASCII"),
        ({"X-Title": "Bearer abcdefghijklmnopqrst"}, "nothing with a key"),
    ],
)
def test_a_header_with_a_value_that_it_can_not_have_is_refused(headers: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        checked_params({"extra_headers": headers}, "model_params")
    checked_params({"extra_headers": {"anthropic-beta": "context-1m", "HTTP-Referer": "https://x"}}, "model_params")


def test_what_can_be_declared_unmeasured_is_checked_before_anything_is_asked(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs.jsonl"
    outputs.write_text('{"id": "i0", "output": "1"}\n', encoding="utf-8")
    settings = {"model": "recorded/m@1", "outputs": str(outputs), "model_base_url": None, "unmeasured": ("speed",)}
    with running(always_good) as server, pytest.raises(ConfigError, match="unmeasured: found speed"):
        run(tmp_path, server, 1, **settings)
    assert not (tmp_path / "runs").exists()


def test_the_config_is_in_the_record_and_holds_what_was_set(tmp_path: Path) -> None:
    with running(always_good) as server:
        result = run(tmp_path, server, 1, model_params={"seed": None}, model_input_price=Decimal("0.40"))
        stored = result.record.started().config
        assert stored["model_params"] == {"seed": None}
        assert stored["model_input_price"] == "0.40"
        assert "judge_params" not in stored
        assert config_from_mapping(stored, "record") == config(
            tmp_path, server, 1, model_params={"seed": None}, model_input_price=Decimal("0.40")
        )
