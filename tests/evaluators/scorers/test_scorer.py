"""The decorator, what a function is called with, and what counts as its source."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import benchbook as bb
from benchbook.errors import UsageError
from benchbook.evalsets import Item
from benchbook.evaluators.scorers.scorer import ScoredItem, scorer_in_file

Point = namedtuple("Point", "x")

HEAD = """import json
import benchbook as bb
LIMIT = 3
"""
BODY = """
def unused(text):
    return text

def clean(text):
    return Folded(text).text.strip()

class Folded:
    def __init__(self, text):
        self.text = lower(text)

def lower(text):
    return text.casefold()

@bb.scorer(name="same")
def same(item, answer):
    json.dumps(answer)
    return [clean(one) for one in [answer]][0] == clean(item.expected_answer)[:LIMIT]
"""


def module(folder: Path, text: str, name: str) -> Any:
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


def plain(item: Any, answer: str) -> bool:
    return item.expected_answer == answer and bool(Point(1))


def one_argument(item: Any) -> bool:
    return bool(item)


def test_it_is_still_the_function() -> None:
    made = bb.scorer(name="plain", version=2)(plain)
    assert (made.id, made.__name__, repr(made)) == ("plain@v2", "plain", "<Scorer plain@v2: plain>")
    assert made(ScoredItem(Item(id="a", prompt="?", expected_answer="x"), {}), "x") is True
    assert hashlib.sha256(made.source.encode()).hexdigest() == made.spec.source_sha256


@pytest.mark.parametrize(
    ("settings", "function", "said"),
    [
        ({"name": "Plain"}, plain, "scorer: name: found 'Plain'; expected a name of at most 48 small letters"),
        ({"name": 3}, plain, "scorer: name: found 3"),
        ({"name": "plain", "version": 0}, plain, "scorer plain: version: found 0; expected a whole number, 1 or more"),
        ({"name": "plain", "version": True}, plain, "version: found True"),
        ({"name": "plain", "passes_at": 1.5}, plain, "passes_at: found 1.5; expected a number from 0 to 1"),
        ({"name": "contains"}, plain, "scorer contains@v1: is shipped; expected a name of your own"),
        ({"name": "plain"}, one_argument, r"found one_argument\(item: .*; expected a function that takes"),
        ({"name": "plain"}, print, "found builtin_function_or_method; expected a function"),
        ({"name": "plain"}, Item, "found StructMeta; expected a function"),
    ],
)
def test_what_can_not_be_a_scorer(settings: dict[str, Any], function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        bb.scorer(**settings)(function)


def test_a_function_without_source_is_refused() -> None:
    names: dict[str, Any] = {}
    exec("def made(item, answer):\n    return True\n", names)
    with pytest.raises(UsageError, match=r"scorer made@v1: its source can't be read, .* define it in a file"):
        bb.scorer(name="made")(names["made"])


def test_its_source_is_with_what_it_uses_of_its_module(tmp_path: Path) -> None:
    source = module(tmp_path, HEAD + BODY, "scorers_used").same.source
    order = ["@bb.scorer", "class Folded", "def clean", "def lower"]
    places = [source.index(one) for one in order]
    assert places == sorted(places)
    assert "unused" not in source
    assert "LIMIT = 3" not in source
    assert "def dumps" not in source


@pytest.mark.parametrize(
    ("changed", "is_same"),
    [
        (lambda text: text.replace("casefold", "lower"), False),  # two steps away
        (lambda text: text.replace("[:LIMIT]", ""), False),
        (lambda text: text.replace("return text\n", "return None\n"), True),  # of what it does not use
        (lambda text: text.replace("LIMIT = 3", "LIMIT = 4"), True),  # data
        (lambda text: "# moved down\n" + text, True),
    ],
)
def test_what_makes_it_another(tmp_path: Path, changed: Callable[[str], str], is_same: bool) -> None:
    first = module(tmp_path, HEAD + BODY, "scorers_before").same
    second = module(tmp_path, changed(HEAD + BODY), "scorers_after").same
    assert (first.spec.source_sha256 == second.spec.source_sha256) is is_same
    assert (first.spec.sha256 == second.spec.sha256) is is_same


def test_the_source_is_that_of_what_was_imported(tmp_path: Path) -> None:
    made = module(tmp_path, HEAD + BODY, "scorers_edited").same
    (tmp_path / "scorers_edited.py").write_text("# " + HEAD + BODY.replace("same(", "same2("), encoding="utf-8")
    assert "def same(" in made.source


def test_a_key_in_it_is_refused(tmp_path: Path) -> None:
    text = HEAD + BODY.replace("json.dumps(answer)", 'key = "sk-abcdef0123456789abcdef"')
    with pytest.raises(UsageError, match=r"scorer same@v1: line 3 of its source has what looks like a key"):
        _ = module(tmp_path, text, "scorers_key").same.spec


def test_an_item_has_all_that_stands_on_its_line() -> None:
    item = ScoredItem(Item(id="a", prompt="What?", section="core"), {"question": "What?", "level": 3, "id": "a"})
    assert (item["level"], item.level, item.prompt, item["prompt"], item.get("none")) == (3, 3, "What?", "What?", None)
    assert (item["section"], item.expected_answer) == ("core", None)
    assert {"question", "level", "expected_answer"} <= {*item}
    with pytest.raises(AttributeError, match="the item 'a' has no 'levle'; it has question, level, id, prompt"):
        _ = item.levle


def test_it_may_be_named_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + BODY, encoding="utf-8")
    assert scorer_in_file(f"{path}:same").id == "same@v1"
    broken = tmp_path / "broken.py"
    broken.write_text("import there_is_no_such_module\n", encoding="utf-8")
    for named, said in (
        (f"{path}:clean", f"clean is no scorer; expected {path}:same"),
        (f"{path}", f"no function is named; expected {path}:same"),
        (f"{tmp_path / 'none.py'}:same", "there is no such file"),
        (f"{broken}:same", "can't be imported (ModuleNotFoundError: No module named 'there_is_no_such_module')"),
    ):
        with pytest.raises(UsageError) as found:
            scorer_in_file(named)
        assert said in str(found.value)
