"""The manual's site has every page, builds without a warning, fetches nothing from elsewhere; links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import benchbook as bb
from support import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
REPOSITORY = "https://example.org/blob/main"


def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hook", DOCS / "site_hook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOK = hook()


def pages_in(nav: list[dict[str, Any]]) -> Iterator[str]:
    for entry in nav:
        for value in entry.values():
            yield from [value] if isinstance(value, str) else pages_in(value)


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(pages_in(HOOK.navigation(DOCS))) == PAGES


def test_the_navigation_is_the_index(tmp_path: Path) -> None:
    words = ["# M", "- [Words](no.txt)", "## A", "- [One](a/1.md): x", "### B", "- [Two](a/2.md)", "## Decisions"]
    index = "\n\n".join([*words, "- [Why](d.md)\n"])
    (tmp_path / "README.md").write_text(index, encoding="utf-8")
    (tmp_path / "decisions").mkdir()
    (tmp_path / "decisions" / "0001-x.md").write_text("# 0001: X\n", encoding="utf-8")
    assert HOOK.navigation(tmp_path)[2:] == [
        {"A": [{"One": "a/1.md"}, {"B": [{"Two": "a/2.md"}]}]},
        {"Decisions": [{"Why": "d.md"}, {"0001: X": "decisions/0001-x.md"}]},
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[a](../reference/cli.md#x)", "[a](../reference/cli.md#x)", id="a-page"),
        pytest.param("[a](#x) [b](https://a.b/c)", "[a](#x) [b](https://a.b/c)", id="no-file"),
        pytest.param("[a](../../README.md#b)", f"[a]({REPOSITORY}/README.md#b)", id="outside"),
        pytest.param("[a](../notebooks/1.ipynb)", f"[a]({REPOSITORY}/docs/notebooks/1.ipynb)", id="a-notebook"),
        pytest.param("![a](../pictures/1.svg)", "![a](../pictures/1.svg)", id="a-picture"),
        pytest.param("```sh\n[a](../../x)\n```", "```sh\n[a](../../x)\n```", id="a-block-stays"),
        pytest.param("<!-- test: exit 1 -->\n```sh\nfalse\n```", "```sh\nfalse\n```", id="a-directive"),
        pytest.param("<!-- file: a.toml -->\n```toml\n```", '```toml title="a.toml"\n```', id="a-file-s-name"),
    ],
)
def test_a_page_of_the_site(text: str, expected: str) -> None:
    assert HOOK.for_the_site(text, PurePosixPath("how-to/page.md"), REPOSITORY, DOCS) == expected


class Read(HTMLParser):
    """The links, the anchors, and what is fetched, of a built page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.fetched: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := found.get(name))}
        if tag == "a" and (to := found.get("href")) is not None:
            self.links.append(to)
        of = found.get("href") if tag == "link" and found.get("rel") != "canonical" else found.get("src")
        if of is not None:
            self.fetched.append(of)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Read]:
    """Every page of the site, read."""
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", site]
    # Some of what builds it opens files without naming their encoding, which is an error in our tests.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHONWARN")}
    environment = kept | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return {page: Read(page) for page in site.rglob("*.html")}


@pytest.mark.slow  # seven seconds: it builds the site
@pytest.mark.xdist_group("site")
class TestBuilt:
    def test_every_page_is_there(self, built: dict[Path, Read]) -> None:
        assert len(built) == len(PAGES) + 1  # and the page for what is not there

    def test_nothing_is_fetched_from_elsewhere(self, built: dict[Path, Read]) -> None:
        fetched = {one for read in built.values() for one in read.fetched}
        assert [one for one in fetched if urlsplit(one).netloc] == []

    def test_links_lead_somewhere(self, built: dict[Path, Read]) -> None:
        lost = [
            (page.parent.name, link)
            for page, read in built.items()
            for link in read.links
            if page.name != "404.html" and not leads_somewhere(page, link, built)
        ]
        assert lost == []

    def test_all_public_names_are_there_from_their_docstrings(self, built: dict[Path, Read]) -> None:
        (api,) = (read for page, read in built.items() if page.parent.name == "api")
        assert [name for name in bb.__all__ if f"benchbook.{name}" not in api.anchors] == []


def leads_somewhere(page: Path, link: str, built: dict[Path, Read]) -> bool:
    parts = urlsplit(link)
    if parts.scheme:
        return re.match(r"https?|mailto", parts.scheme) is not None
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    target = target / "index.html" if target.is_dir() else target
    if parts.fragment and target in built:
        return unquote(parts.fragment) in built[target].anchors
    return target.exists()
