"""What must hold of the page's source and its build, without a browser."""

from __future__ import annotations

import gzip
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from benchbook.views.markup import DARK, LIGHT

ROOT = Path(__file__).parents[2]
UI = ROOT / "ui"
STATIC = Path(str(files("benchbook.server"))) / "static"


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
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 6)) for path in STATIC.rglob("*.js")}
    assert sum(sizes.values()) < 250_000, sizes  # all pages together


def test_every_file_but_the_entry_has_its_hash_in_its_name() -> None:
    for path in (STATIC / "assets").iterdir():
        assert re.fullmatch(r"[a-z-]+-[A-Za-z0-9_-]{8}\.(js|css)", path.name), path.name
