"""From a role's settings to a provider: what is refused, and how it is said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchbook.ask.providers.calls import CallFailed, Provider
from benchbook.ask.providers.local import LocalServer
from benchbook.ask.providers.openai import OpenAIProvider
from benchbook.ask.roles import NAMED_KINDS, RoleSettings, offers_json_schema, open_provider, server_key
from benchbook.ask.settings import ModelConfig
from benchbook.ask.work import run_async
from benchbook.errors import ConfigError, UsageError


def settings(kind: str, *, of: str = "model", name: str = "m", **more: Any) -> RoleSettings:
    config = ModelConfig(model=f"{kind}/{name}", **more)
    prefix = f"{of}." if of.endswith("]") else f"{of}_"
    return RoleSettings(setting=of, prefix=prefix, config=config, timeout_ms=1000)


def opened(which: RoleSettings) -> Provider:
    async def main() -> Provider:
        provider = open_provider(which)
        await provider.close()
        return provider

    provider: Provider = run_async(main())
    return provider


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "MY_KEY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def key_of(provider: Provider) -> str | None:
    assert isinstance(provider, OpenAIProvider)
    _, is_there, rest = provider._client._head.partition(b"Authorization: Bearer ")
    return rest.partition(b"\r\n")[0].decode() if is_there else None


# ── openai ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("base_url", "variable", "key"),
    [
        (None, None, "the usual one"),
        (None, "MY_KEY", "mine"),
        ("http://127.0.0.1:1/v1", None, None),
        ("http://127.0.0.1:1/v1", "MY_KEY", "mine"),
    ],
    ids=["openai-itself", "openai-with-another-variable", "own-server-gets-no-key-unasked", "own-server-with-a-key"],
)
def test_which_key_is_sent(
    monkeypatch: pytest.MonkeyPatch, base_url: str | None, variable: str | None, key: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the usual one")
    monkeypatch.setenv("MY_KEY", "mine")
    assert key_of(opened(settings("openai", base_url=base_url, api_key_env=variable))) == key


@pytest.mark.parametrize(
    ("which", "says"),
    [
        pytest.param(
            settings("openai"), "model_base_url: found no address, so OpenAI itself would be asked", id="no-key"
        ),
        pytest.param(
            settings("openai", of="judge", api_key_env="MY_KEY", base_url="http://h/v1"),
            "judge_api_key_env: found MY_KEY, which is not set",
            id="no-key-for-the-judge",
        ),
        pytest.param(
            settings("openai", of="judges[1]", api_key_env="MY_KEY", base_url="http://h/v1"),
            "judges[1].api_key_env: found MY_KEY, which is not set",
            id="no-key-for-one-of-the-judges",
        ),
        pytest.param(
            settings("local", of="judges[1]", path="/no"), "judges[1].path: found /no", id="no-weights-of-one"
        ),
        pytest.param(settings("scripted", of="judges[1]"), "judges[1].path: found nothing", id="no-script-of-one"),
        pytest.param(settings("openai", base_url="host/v1"), "model_base_url: found host/v1", id="no-address"),
        pytest.param(settings("openai", base_url="http://h:x/"), "model_base_url: found http://h:x/", id="bad-port"),
        pytest.param(settings("scripted"), "model_path: found nothing", id="no-script"),
        pytest.param(settings("scripted", path="/no/such"), "model_path: found /no/such", id="missing-script"),
        pytest.param(settings("local", path="/no/such.gguf"), "model_path: found /no/such.gguf", id="missing-weights"),
        pytest.param(settings("local"), "model: found local/m without model_path", id="unknown-local-model"),
        pytest.param(settings("elsewhere"), "model: found provider 'elsewhere'", id="unknown-provider"),
    ],
)
def test_what_can_not_be_opened_is_refused(which: RoleSettings, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        opened(which)
    assert str(caught.value).startswith(says)
    assert caught.value.exit_code == 2


def test_an_unknown_provider_is_told_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        opened(settings("elsewhere"))
    assert caught.value.expected == "openai, local, recorded, scripted, any-llm"
    assert ", ".join(NAMED_KINDS) == caught.value.expected


@pytest.mark.parametrize(
    ("module", "which", "extra"),
    [("any_llm", settings("any-llm", name="x:m"), "any-llm"), ("xllamacpp", settings("local", path=__file__), "local")],
    ids=["any-llm", "local"],
)
def test_a_provider_whose_package_is_missing_says_which_extra_to_install(
    monkeypatch: pytest.MonkeyPatch, module: str, which: RoleSettings, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=rf"pip install 'benchbook\[{extra}\]'"):
        opened(which)


# ── recorded ─────────────────────────────────────────────────────────────────────────────────────────────


def test_recorded_outputs_can_not_be_asked_for_more() -> None:
    async def main() -> None:
        await open_provider(settings("recorded")).ask(b"{}")

    with pytest.raises(CallFailed, match="have none for this item") as caught:
        run_async(main())
    assert not caught.value.retryable


# ── what is known before ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("which", "offers"),
    [
        (settings("openai"), True),
        (settings("openai", base_url="http://h/v1"), False),
        (settings("local"), True),
        (settings("recorded"), False),
        (settings("scripted"), False),
        (settings("any-llm"), False),
    ],
    ids=["openai-itself", "own-server", "local", "recorded", "scripted", "any-llm"],
)
def test_a_json_schema_is_asked_for_only_where_it_is_known_to_be_taken(which: RoleSettings, offers: bool) -> None:
    assert offers_json_schema(which) is offers


def test_opening_loads_only_the_provider_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text('{"replies": []}', encoding="utf-8")
    code = (
        "import sys; from benchbook.ask.roles import *; from benchbook.ask.settings import ModelConfig\n"
        f"config = ModelConfig(model='scripted/m', path={str(tmp_path / 'script.json')!r})\n"
        "open_provider(RoleSettings(setting='model', prefix='model_', config=config, timeout_ms=1))\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8"
    ).stdout.split()
    assert not {"httptools", "xllamacpp", "any_llm", "polars", "pyarrow"} & set(loaded)


# ── a local model's process, and who shares a limit ──────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("ended", "cause", "stops_run", "detail"),
    [
        (None, "connection", False, "ConnectionRefusedError"),
        ("the local model's process has ended (signal 9)", "local", True, "signal 9"),
    ],
    ids=["runs", "is-gone"],
)
def test_a_local_process_that_is_gone_is_this_machines_fault(
    ended: str | None, cause: str, stops_run: bool, detail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Server:
        base_url = "http://127.0.0.1:9/v1"

        def __init__(self, *_: object) -> None: ...

        def ended(self) -> str | None:
            return ended

        def close(self) -> None: ...

    monkeypatch.setattr("benchbook.ask.providers.local.LocalServer", Server)
    monkeypatch.setattr("benchbook.ask.roles.find_model", lambda *_: Path("m.gguf"))

    async def main() -> CallFailed:
        provider = open_provider(settings("local"))
        try:
            with pytest.raises(CallFailed) as caught:
                await provider.ask(b'{"model":"m"}')
        finally:
            await provider.close()
        return caught.value

    failed: CallFailed = run_async(main())
    assert (failed.cause, failed.stops_run) == (cause, stops_run)
    assert detail in failed.detail


@pytest.mark.parametrize(
    ("process", "ended"),
    [
        ([sys.executable, "-c", "import sys; sys.exit(3)"], "the local model's process has ended (exit code 3)"),
        (
            [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"],
            "the local model's process has ended (signal 9)",
        ),
    ],
)
def test_how_a_local_process_ended(process: list[str], ended: str) -> None:
    server = LocalServer.__new__(LocalServer)
    server._process = subprocess.Popen(process)
    server._process.wait()
    assert server.ended() == ended


def test_no_file_for_a_recorded_output_is_its_cause() -> None:
    async def main() -> CallFailed:
        with pytest.raises(CallFailed) as caught:
            await open_provider(settings("recorded")).ask(b"{}")
        return caught.value

    assert run_async(main()).cause == "not_recorded"


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (settings("openai", name="a"), settings("openai", name="b"), True),
        (settings("openai", base_url="http://h/v1"), settings("openai", base_url="http://H/v2"), True),
        (settings("openai", base_url="http://h/v1"), settings("openai"), False),
        (settings("any-llm", name="v:a"), settings("any-llm", name="v:b"), True),
        (settings("any-llm", name="v:a"), settings("any-llm", name="w:a"), False),
        (settings("scripted", path="a"), settings("scripted", path="b"), False),
    ],
)
def test_who_shares_a_servers_limits(one: RoleSettings, other: RoleSettings, shared: bool) -> None:
    assert (server_key(one) == server_key(other)) is shared
