"""What must hold of the page's source and its build, without a browser."""

from __future__ import annotations

import gzip
import json
import re
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchbook.views.markup import DARK, LIGHT

ROOT = Path(__file__).parents[2]
UI = ROOT / "ui"
STATIC = Path(str(files("benchbook.server"))) / "static"


def generator() -> ModuleType:
    """ui/generate.py, which is no module of a package."""
    spec = spec_from_file_location("generate", UI / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_types_and_words_are_those_of_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert (generator().main(["--check"]), capsys.readouterr().err) == (0, "")


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        ({"type": "string"}, "string"),
        ({"type": "integer", "minimum": 0}, "number"),
        ({"type": "boolean", "default": False}, "boolean"),
        ({"enum": ["at_least", "at_most"]}, '"at_least" | "at_most"'),
        ({"enum": [False]}, "false"),
        ({"$ref": "#/components/schemas/Gate"}, "Gate"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "number | null"),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Gate"}}, "Gate[]"),
        ({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}}, "(number | null)[]"),
        ({"type": "array"}, "unknown[]"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "Record<string, number>"),
        ({"type": "object"}, "Record<string, unknown>"),
        ({}, "unknown"),
    ],
)
def test_a_schema_is_a_type(schema: dict[str, Any], wanted: str) -> None:
    assert generator().ts_type(schema) == wanted


def test_a_form_that_no_answer_had_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no TypeScript is known for .*prefixItems.*: teach ui/generate.py"):
        generator().ts_type({"prefixItems": [{"type": "string"}]})


def test_no_docstring_ends_its_comment() -> None:
    assert list(generator().said("Ends */ here.\n\n    And goes on.")) == [
        "/**",
        " * Ends * / here.",
        " *",
        " * And goes on.",
        " */",
    ]


@pytest.mark.parametrize(
    ("found", "wanted", "said"),
    [
        ("a\nb: string;\n", "a\nb: string | null;\n", "2: found `b: string;`; expected `b: string | null;`"),
        ("a\n", "a\nb\n", "2: found nothing; expected `b`"),
        ("a\nb\n", "a\n", "2: found `b`; expected nothing"),
    ],
)
def test_the_first_difference_is_named(found: str, wanted: str, said: str) -> None:
    assert generator().first_difference(found, wanted) == said


def test_the_page_has_the_colours_of_the_report() -> None:
    light, dark = (UI / "src/styles/palette.css").read_text(encoding="utf-8").split("@media screen")
    for css, palette in ((light, LIGHT), (dark, DARK)):
        assert dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", css)) == dict(palette)


def test_the_lock_names_versions_and_hashes_and_no_host() -> None:
    text = (UI / "package-lock.json").read_text(encoding="utf-8")
    assert "http" not in text
    for name, package in json.loads(text)["packages"].items():
        assert not name or package["integrity"].startswith("sha512-"), name


def test_the_page_asks_for_nothing_inline_and_nothing_from_elsewhere() -> None:
    html = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|style=|\son[a-z]+=|<script(?![^>]*\ssrc=)|javascript:|data:", html)
    assert all(address.startswith("/") for address in re.findall(r"(?:src|href)=\"([^\"]*)\"", html))


@pytest.mark.parametrize("pattern", [r"url\(\s*['\"]?(?:https?:)?//", r"@import", r"data:"])
def test_no_style_asks_for_anything_from_elsewhere(pattern: str) -> None:
    for path in STATIC.rglob("*.css"):
        assert not re.search(pattern, path.read_text(encoding="utf-8")), path.name


def test_a_first_load_is_small() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 6)) for path in (STATIC / "assets").rglob("*.js")}
    assert sum(sizes.values()) < 250_000, sizes  # all pages together


def test_every_file_but_the_entry_has_its_hash_in_its_name() -> None:
    for path in (STATIC / "assets").iterdir():
        assert re.fullmatch(r"[a-z-]+-[A-Za-z0-9_-]{8}\.(js|css)", path.name), path.name
