"""What the site does to the pages that GitHub shows as they are (a hook of mkdocs.yml; `script/site` builds).

The navigation is the index of the manual (README.md): its headings, and the lists of links below them. Decisions and
the public names of the library are listed as they are there. Links to what is no page, such as a notebook, lead to the
repository, and the tests' directives are no part of a page.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

Nav = list[dict[str, Any]]

HEADING = re.compile(r"(#{2,3}) (.+)")
ENTRY = re.compile(r"- \[([^\]]+)\]\(([^)#]+\.md)\)")
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
FENCED = re.compile(r"^(`{3,}).*?^\1[ \t]*$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"<!-- file: (\S+) -->\n(`{3,}\w+)")
TEST = re.compile(r"<!-- test: .*? -->\n")


def on_config(config: Any) -> Any:
    config.nav = navigation(Path(config.docs_dir))
    return config


def navigation(docs: Path) -> Nav:
    """The site's navigation, from the index and from the folder of decisions."""
    nav: Nav = [{"Home": "README.md"}, {"Tutorial": "tutorial.md"}]
    levels: list[Nav] = [nav]  # the lists that are open: the whole, a heading's, a smaller heading's
    for line in (docs / "README.md").read_text(encoding="utf-8").splitlines():
        if (found := HEADING.fullmatch(line)) is not None:
            del levels[len(found[1]) - 1 :]
            levels.append([])
            levels[-2].append({found[2]: levels[-1]})
        elif (entry := ENTRY.match(line)) is not None:
            levels[-1].append({entry[1]: entry[2]})
    of_decisions = next(part["Decisions"] for part in nav if "Decisions" in part)
    of_decisions += [{title_of(page): f"decisions/{page.name}"} for page in sorted(docs.glob("decisions/[0-9]*.md"))]
    return nav


def title_of(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    if page.file.src_uri == "reference/api.md":
        markdown += api_of_the_library()
    return for_the_site(markdown, PurePosixPath(page.file.src_uri), config.extra["repository"], Path(config.docs_dir))


def api_of_the_library() -> str:
    """What mkdocstrings is told to show: all public names, functions before classes."""
    import benchbook

    names = sorted(benchbook.__all__, key=str.lower)
    functions = [name for name in names if name == name.lower()]
    classes = [name for name in names if name not in functions]
    parts = {"Functions": functions, "Classes": classes}
    return "".join(
        f"\n## {title}\n\n" + "".join(f"::: benchbook.{name}\n\n" for name in names) for title, names in parts.items()
    )


def for_the_site(markdown: str, page: PurePosixPath, repository: str, docs: Path) -> str:
    """The page as the site has it. `page` is its path in `docs`."""

    def link(found: re.Match[str]) -> str:
        target = (docs / page.parent / found[1]).resolve()
        if target.is_relative_to(docs) and target.suffix in (".md", ".png", ".svg"):
            return found[0]
        return f"{repository}/{target.relative_to(docs.parent).as_posix()}{found[2] or ''}"

    text = TEST.sub("", FILE.sub(r'\2 title="\1"', markdown))
    parts, end = [], 0
    for block in FENCED.finditer(text):
        parts += [LINK.sub(link, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, LINK.sub(link, text[end:])])
