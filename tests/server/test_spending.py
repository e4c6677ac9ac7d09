"""Whom runs over HTTP may ask, and with which key: whatever the owner of the server did not name is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.roles import RoleSettings
from benchbook.ask.settings import ModelConfig
from benchbook.errors import ConfigError
from benchbook.evaluators.settings import RunConfig
from benchbook.server import starting
from benchbook.server.running import make_app
from benchbook.server.spending import GENERATION, Spending, read_endpoint, seen_environment
from running import write_items
from scripted_server import always_good
from scripted_server import running as scripted
from server.making import Api, settings

LAB, OTHER = "http://lab.example:8000/v1", "https://other.example/v1"
AZURE = "https://a.openai.azure.com/openai/deployments/d?api-version=preview"
NAMED = (f"{LAB}=LAB_KEY", f"{LAB}=SECOND_KEY", OTHER, "any-llm/mistral=MISTRAL_KEY", "any-llm/ollama", "local", AZURE,
         "http://[::1]:9000/v1", "http://plain.example")  # fmt: skip


@pytest.fixture
def spending(monkeypatch: pytest.MonkeyPatch) -> Spending:
    for name in ("LAB_KEY", "SECOND_KEY", "MISTRAL_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, f"the key in {name}")
    return Spending(NAMED)


def asked(spending: Spending, model: str = "openai/m@1", url: str | None = None, **more: Any) -> ModelConfig:
    config = ModelConfig(model=model, base_url=url, **more)
    return spending.permitted(RoleSettings(setting="model", prefix="model_", config=config, timeout_ms=1))


# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("url", "called"),
    [
        (LAB, LAB),
        (f"{LAB}/", LAB),
        (f"{LAB}/chat/completions", LAB),
        ("HTTP://LAB.example:8000/v1", LAB),
        ("http://lab.example.:8000/v1", LAB),
        (f"{OTHER}///", OTHER),
        ("https://other.example:443/v1", OTHER),
        ("http://plain.example", "http://plain.example"),
        ("http://plain.example:80/", "http://plain.example"),
        ("http://[::1]:9000/v1", "http://[::1]:9000/v1"),
        (AZURE, AZURE),
    ],
)
def test_an_address_is_asked_as_the_server_has_it(spending: Spending, url: str, called: str) -> None:
    assert asked(spending, url=url).base_url == called


@pytest.mark.parametrize(
    "url",
    [
        "http://lab.example/v1",  # another port
        "http://lab.example:8001/v1",
        "https://lab.example:8000/v1",  # another scheme
        "http://lab.example:8000",  # another path
        "http://lab.example:8000/",
        "http://lab.example:8000/V1",
        "http://lab.example:8000/v1/..",
        "http://lab.example:8000/v1/../admin",
        "http://lab.example:8000/./v1",
        "http://lab.example:8000//v1",
        "http://lab.example:8000/v1/%2e%2e/admin",
        "http://lab.example:8000/v1%2f..%2fadmin",
        "http://lab.example:8000/v1\\..\\admin",
        "http://lab.example:8000/v1;x",
        "http://lab.example:8000/v1?x=1",  # a query
        "http://lab.example:8000/v1/embeddings",
        "http://evil.example/v1",
        "http://lab.example.evil.example:8000/v1",
        "http://evil.example/lab.example:8000/v1",
        "http://lab.example:8000@evil.example/v1",  # the host is what comes after the @
        "http://user:pass@lab.example:8000/v1",
        "http://evil.example#@lab.example:8000/v1",
        "http://evil.example\\@lab.example:8000/v1",
        "http://lab.example:8000.evil.example/v1",
        "http://lab.example:0/v1",
        "http://lab.example:99999/v1",
        "http://lab.example:08000x/v1",
        "http://lab\u3002example:8000/v1",  # an ideographic full stop
        "http://l\u0430b.example:8000/v1",  # a Cyrillic a
        "http://lab.example:8000/v1\r\nHost: evil.example",
        " http://evil.example/v1",
        "http:/lab.example:8000/v1",
        "http:lab.example:8000/v1",
        "//lab.example:8000/v1",
        "lab.example:8000/v1",
        "file:///etc/passwd",
        "ftp://lab.example:8000/v1",
        "gopher://lab.example:8000/v1",
        "unix:///var/run/docker.sock",
        "",
        "http://",
        "http://169.254.169.254/latest/meta-data",
        "http://2852039166/latest",  # the same, as one number
        "http://0xa9fea9fe/latest",
        "http://127.0.0.1:9000/v1",  # ::1 is named, and this is not
        "http://localhost:9000/v1",
        "http://0:9000/v1",
        "http://2130706433:9000/v1",
        "http://0x7f.1:9000/v1",
        "http://[::ffff:127.0.0.1]:9000/v1",
        "http://[0:0:0:0:0:0:0:1]:9000/v1",
        "http://[::1%25lo]:9000/v1",
        "http://[::1:9000/v1",
        "https://a.openai.azure.com/openai/deployments/d",
        "https://a.openai.azure.com/openai/deployments/d?api-version=other",
        "https://api.openai.com/v1",
    ],
)
def test_any_other_address_is_refused(spending: Spending, url: str) -> None:
    with pytest.raises(ConfigError, match="model_base_url: found "):
        asked(spending, url=url)


@pytest.mark.parametrize(
    "model",
    [
        "openai/m@1",  # OpenAI's own address
        "any-llm/llamafile:m@1",  # 127.0.0.1:8080
        "any-llm/lmstudio:m@1",
        "any-llm/openai:m@1",
        "any-llm/Mistral:m@1",
        "any-llm/mistral/../llamafile:m@1",
        "any-llm/m@1",
        "scripted/m@1",
        "python/f@1",
        "ollama/m@1",
        "OpenAI/m@1",
        "http/m@1",
    ],
)
def test_any_other_provider_is_refused(spending: Spending, model: str) -> None:
    with pytest.raises(ConfigError, match=r"model: found .*, which was not allowed|found an address that was not"):
        asked(spending, model)


def test_by_default_nobody_is_asked() -> None:
    for model, url in (("openai/m@1", None), ("openai/m@1", LAB), ("any-llm/mistral:m@1", None), ("local/m@1", None)):
        with pytest.raises(ConfigError, match="one that `serve --endpoint` names: nothing"):
            asked(Spending(()), model, url)
    assert asked(Spending(()), "recorded/m@1") == ModelConfig(model="recorded/m@1")
    assert str(Spending(())) == "runs that are started over HTTP may ask nobody: --endpoint says whom"


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_goes_to_the_address_that_it_is_for(spending: Spending) -> None:
    for model, url, wanted, sent in (
        ("openai/m@1", LAB, None, "LAB_KEY"),  # the first that is named
        ("openai/m@1", LAB, "SECOND_KEY", "SECOND_KEY"),
        ("openai/m@1", OTHER, None, None),
        ("any-llm/mistral:m@1", None, None, "MISTRAL_KEY"),
        ("any-llm/ollama:m@1", None, None, None),
        ("local/m@1", None, None, None),
    ):
        assert asked(spending, model, url, api_key_env=wanted).api_key_env == sent
    for model, url, wanted in (
        ("openai/m@1", OTHER, "LAB_KEY"),
        ("openai/m@1", OTHER, "OPENAI_API_KEY"),
        ("openai/m@1", LAB, "MISTRAL_KEY"),
        ("openai/m@1", LAB, "HOME"),
        ("openai/m@1", LAB, "lab_key"),
        ("openai/m@1", LAB, ""),
        ("any-llm/mistral:m@1", None, "LAB_KEY"),
        ("any-llm/ollama:m@1", None, "MISTRAL_KEY"),
        ("local/m@1", None, "LAB_KEY"),
        ("recorded/m@1", None, "LAB_KEY"),
    ):
        with pytest.raises(ConfigError, match="config: model_api_key_env: found "):
            asked(spending, model, url, api_key_env=wanted)
    with pytest.raises(ConfigError, match="model_base_url: found an address; expected nothing"):
        asked(spending, "any-llm/mistral:m@1", LAB)


def test_the_usual_key_is_never_taken_unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-you")
    with pytest.raises(ConfigError, match="model_api_key_env: found no key"):
        asked(Spending(["https://api.openai.com/v1"]))
    assert asked(Spending(["https://api.openai.com/v1=OPENAI_API_KEY"])).api_key_env == "OPENAI_API_KEY"


def test_a_runs_process_sees_no_other_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LAB_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "BENCHBOOK_CATALOG", "AWS_PROFILE", "MY_SECRET"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("https_proxy", "http://proxy:1")
    seen = seen_environment(["LAB_KEY"])
    assert {"LAB_KEY", "https_proxy", "PATH"} <= seen.keys()
    assert not {"OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "BENCHBOOK_CATALOG", "AWS_PROFILE", "MY_SECRET"} & seen.keys()


# ── parameters ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "params",
    [
        {"extra_headers": {"Host": "x"}},
        {"extra_headers": {}},
        {"extra_body": {"api_base": "http://evil.example"}},
        {"extra_query": {"x": 1}},
        {"api_base": "http://evil.example"},
        {"api_key": "x"},
        {"base_url": "http://evil.example"},
        {"timeout": 1},
        {"Temperature": 1},
        {"": 1},
        {"web_search_options": {}},
        {"mcp_servers": [{"url": "http://evil.example"}]},
        {"tools": [{"type": "mcp", "server_url": "http://evil.example"}]},
        {"tools": {"type": "function"}},
        {"user_location": {}},
    ],
)
def test_what_is_no_parameter_of_generation_is_refused(spending: Spending, params: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"config: model_params(\.tools)?: found "):
        asked(spending, url=LAB, params=params)


def test_parameters_of_generation_are_taken(spending: Spending) -> None:
    params = {"temperature": 0, "seed": None, "tools": [{"type": "function", "function": {"name": "f"}}]}
    assert asked(spending, url=LAB, params=params).params == params
    assert not [name for name in GENERATION if "url" in name or "head" in name or "key" in name]


# ── the option, and the whole way ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("ollama", "an address such as"),
        ("local=LAB_KEY", "an address such as"),
        ("any-llm/", "an address such as"),
        ("any-llm/Mistral", "an address such as"),
        ("python", "an address such as"),
        ("", "an address such as"),
        ("http://user:pass@h/v1", "an address with credentials in it"),
        ("http://h/v1/../x", "a path without"),
        ("http://h/%2e", "a path without"),
        ("http://h/v1=NOT_SET_KEY", "NOT_SET_KEY, which is not set"),
    ],
)
def test_an_endpoint_that_is_none(word: str, says: str) -> None:
    with pytest.raises(ConfigError, match="--endpoint: found ") as refused:
        Spending([word])
    assert says in str(refused.value)


def test_an_equals_sign_in_an_address_is_its_own() -> None:
    assert read_endpoint(AZURE).key is None
    assert str(read_endpoint(f"{AZURE}=AZURE_KEY")) == f"{AZURE} with the key in AZURE_KEY"


def test_every_setting_of_a_run_is_taken_over_http_or_refused() -> None:
    """A new setting is refused until somebody has thought about it."""
    assert set(RunConfig.__struct_fields__) - starting.TAKEN == {"runs", "reports", "cache", "batch"}
    assert set(RunConfig.__struct_fields__) >= starting.TAKEN


def test_a_config_asks_as_the_server_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "x" * 20)
    write_items(tmp_path / "items.jsonl", 1)
    made = settings(tmp_path / "runs", str(tmp_path / "c"), inputs=tmp_path, endpoints=(f"{LAB}=LAB_KEY", OTHER))
    api = Api(make_app(made))
    one = {"evalset": "items.jsonl", "model": "openai/m@1", "model_base_url": "HTTP://lab.example.:8000/v1/"}
    checked = starting.checked_config(
        api.app.services, {**one, "judge": "openai/j@1", "judge_base_url": OTHER, "judge_params": {"seed": 1}}
    )
    assert (checked.model_base_url, checked.model_api_key_env) == (LAB, "LAB_KEY")
    assert (checked.judge_base_url, checked.judge_api_key_env) == (OTHER, None)
    panel = [{"model": "openai/j@1", "base_url": LAB}, {"model": "openai/k@1", "base_url": f"{OTHER}/"}]
    both = starting.checked_config(api.app.services, {**one, "judges": panel, "panel_rule": "majority"})
    assert [(judge.base_url, judge.api_key_env) for judge in both.judges] == [(LAB, "LAB_KEY"), (OTHER, None)]
    for field, judge in (("base_url", {"base_url": "http://evil.example"}), ("api_key_env", {"api_key_env": "LAB_KEY"}),
                         ("params", {"params": {"api_base": "x"}})):  # fmt: skip
        panel[1] = {"model": "openai/k@1", "base_url": OTHER, **judge}
        body = {"config": {**one, "judges": panel, "panel_rule": "majority"}}
        status, detail = api.problem("/api/v1/runs", "POST", json=body)
        assert (status, f"judges[1].{field}: found" in detail) == (422, True), detail
    assert api.app.services.children.n_running == 0
    api.app.stop()


def test_the_key_is_sent_there_and_stands_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-lab-0123456789abcdef"
    monkeypatch.setenv("LAB_KEY", key)
    write_items(tmp_path / "items.jsonl", 1)
    with scripted(always_good) as server:
        words = (f"{server.base_url}=LAB_KEY",)
        api = Api(make_app(settings(tmp_path / "runs", str(tmp_path / "c"), inputs=tmp_path, endpoints=words)))
        config = {"evalset": "items.jsonl", "model": "openai/m@1", "model_base_url": server.base_url,
                  "spec": "answer_correctness@v1", "run_id": "mine"}  # fmt: skip
        assert api.ask("POST", "/api/v1/runs", json={"config": config}).status_code == 202
        api.app.services.children._running["mine"].wait(60)
        assert [head["authorization"] for head in server.headers] == [f"Bearer {key}"]
        api.app.stop()
    for file in (tmp_path / "runs").rglob("*"):
        assert not file.is_file() or key.encode() not in file.read_bytes(), file
    started = json.loads((tmp_path / "runs/mine/journal/000001.jsonl").read_bytes().splitlines()[0])
    assert started["config"]["model_api_key_env"] == "LAB_KEY"
