"""The file that `benchbook init` writes: what it sets comes back, and whatever it says stays a comment."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.ask.model_servers import FoundKey, ModelServer, ServedModel
from benchbook.evaluators.first_config import (
    Chosen,
    ChosenSetting,
    config_text,
    evalsets_in,
    first_judge,
    first_model,
    models_found,
    path_from,
    today,
)
from benchbook.evaluators.settings import SETTINGS, RunConfig

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(
    TEXTS,
    st.integers(-(2**63), 2**63 - 1),
    st.lists(TEXTS, min_size=1),
    st.lists(st.dictionaries(st.sampled_from(["model", "path"]), TEXTS, min_size=1), min_size=1),
)


@given(VALUES, TEXTS)
def test_a_value_comes_back_whatever_it_is(value: Any, why: str) -> None:
    text = config_text([ChosenSetting(name="runs", value=value, why=why)])
    assert tomllib.loads(text) == {"runs": value}


def test_every_setting_is_there_once_and_can_be_uncommented() -> None:
    text = config_text([ChosenSetting(name="evalset", value="a.jsonl")])
    shown = [line.removeprefix("# ") for line in text.splitlines() if " = " in line]
    read = [tomllib.loads(line) for line in shown]
    names = [name for one in read for name in one]
    assert sorted(names) == sorted(name for section in SETTINGS.values() for name in section)
    assert set(names) <= set(RunConfig.__struct_fields__)


def test_keys_are_told_in_comments() -> None:
    key = FoundKey(vendor="Groq", variable="GROQ_API_KEY", base_url="https://api.groq.com/openai/v1")
    text = config_text([ChosenSetting(name="evalset", value="a.jsonl")], [key])
    assert tomllib.loads(text) == {"evalset": "a.jsonl"}
    assert 'model_api_key_env = "GROQ_API_KEY"' in text


SERVER = ModelServer(
    program="Ollama",
    base_url="http://127.0.0.1:11434/v1",
    models=[ServedModel(name="a:1b", digest="baf6a787fdff"), ServedModel(name="b")],
)


def test_a_served_model_has_its_digest_as_version_or_today() -> None:
    found = models_found([SERVER], small_model=True)
    assert [one.model for one in found] == ["openai/a:1b@baf6a787fdff", f"openai/b@{today()}", "local/smollm2-135m"]
    assert "its digest there" in found[0].why
    assert "the server tells none" in found[1].why


@pytest.mark.parametrize(
    ("found", "model", "judge"),
    [
        pytest.param([], "scripted/shop-assistant@1", "scripted/shop-judge@1", id="nothing"),
        pytest.param(["a@1"], "openai/a@1", "openai/a@1", id="one-judges-itself"),
        pytest.param(["a@1", "b@1"], "openai/a@1", "openai/b@1", id="two"),
    ],
)
def test_another_model_judges_where_there_is_one(found: list[str], model: str, judge: str) -> None:
    models = [Chosen(model=f"openai/{name}", why="found") for name in found]
    first = first_model(models)
    assert (first.model, first_judge(first, models).model) == (model, judge)


def test_only_tables_of_items_are_eval_sets(tmp_path: Path) -> None:
    item = '{"id": "a", "prompt": "Why?"}\n'
    for name, text in {
        "a.jsonl": item,
        "items.csv": "id,prompt\na,Why?\n",
        "outputs.jsonl": '{"item_id": "a", "output": "So."}\n',
        "broken.jsonl": "{",
        "empty.csv": "",
        "notes.txt": item,
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "folder.jsonl").mkdir()
    assert evalsets_in(tmp_path) == ["items.csv", "a.jsonl"]


@pytest.mark.parametrize(
    ("folder", "path", "named"),
    [("x", "a.jsonl", "../a.jsonl"), ("x", "x/a.jsonl", "a.jsonl"), ("x", "@set", "@set"), ("x", "/a", "/a")],
)
def test_a_path_is_named_from_the_files_folder(folder: str, path: str, named: str) -> None:
    assert path_from(Path(folder), path) == named
