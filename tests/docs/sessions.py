"""Reads the manual's pages: their commands, the files that they write, and what they show as output.

A page is a session: its blocks run in order, in one folder, the one in which the page says that its reader stands: an
empty one, or by a sentence in front of the first block that runs, a checkout's root or its docs/examples.

    ```sh                        a script
    ```console                   `$ ` starts a command; the lines under it are what it prints, `…` stands for anything
    ```python                    a program
    <!-- file: NAME -->          the next block is written to NAME
    <!-- test: exit N -->        the next block ends with N
    <!-- test: slow -->          the next block needs the local model
    <!-- test: skip (why) -->    the next block is not run
    <!-- test: needs PROGRAM --> the next block is run where there is this program
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "blocks_of", "links_of", "matches", "stands_in", "steps_of", "tables_of"]

RUN = ("sh", "console", "python")
_FENCE = re.compile(r"^(`{3,})(\w*)\s*$")
_DIRECTIVE = re.compile(r"<!-- (file|test): (.*?) -->")
_STANDS = {
    "docs/examples": re.compile(r"[Ii]n \[`docs/examples`\]\([./]*examples\)\s+of\s+a\s+checkout"),
    ".": re.compile(r"[Ii]n\s+the\s+root\s+of\s+a\s+checkout"),
}
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")


@dataclass(frozen=True)
class Block:
    """A fenced block, with the directive in front of it."""

    page: Path
    line: int
    language: str
    text: str
    file: str | None = None
    exit_code: int = 0
    slow: bool = False
    skipped: bool = False

    @property
    def where(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """The page's fenced blocks in order."""
    lines = page.read_text(encoding="utf-8").split("\n")
    blocks = []
    directive = ("", "")
    number = 0
    while number < len(lines):
        line = lines[number]
        if (found := _DIRECTIVE.fullmatch(line.strip())) is not None:
            directive = (found[1], found[2])
        elif (fence := _FENCE.match(line)) is not None:
            end = lines.index(fence[1], number + 1)
            text = "\n".join(lines[number + 1 : end]) + "\n"
            blocks.append(_block(page, number + 1, fence[2], text, directive))
            directive = ("", "")
            number = end
        elif line.strip():
            assert directive == ("", ""), f"{page.name}:{number}: a directive belongs right in front of a block"
        number += 1
    return blocks


def stands_in(page: Path, first: int) -> str | None:
    """The folder of a checkout in which the page says, above line `first`, that its reader is; None: an empty one."""
    above = "\n".join(page.read_text(encoding="utf-8").split("\n")[:first])
    return next((folder for folder, said in _STANDS.items() if said.search(above)), None)


def _block(page: Path, line: int, language: str, text: str, directive: tuple[str, str]) -> Block:
    kind, words = directive
    if kind == "file":
        return Block(page, line, language, text, file=words)
    if words.startswith("exit "):
        return Block(page, line, language, text, exit_code=int(words.removeprefix("exit ")))
    if needs := re.fullmatch(r"needs ([a-z-]+)", words):
        return Block(page, line, language, text, skipped=shutil.which(needs[1]) is None)
    assert words in ("", "slow") or re.fullmatch(r"skip \(.+\)", words), f"{page.name}:{line}: what is {words!r}?"
    return Block(page, line, language, text, slow=words == "slow", skipped=words.startswith("skip"))


def steps_of(block: Block) -> Iterator[tuple[str, str | None]]:
    """`(command, output)` of a block; the output is None where the page does not show it."""
    if block.language != "console":
        yield block.text, None
        return
    command, output = "", list[str]()
    for line in block.text.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            if command:
                yield command, "\n".join(output)
            command, output = line.removeprefix("$ "), []
        elif command.endswith("\\") and not output:
            command += f"\n{line.removeprefix('> ')}"
        else:
            output.append(line)
    yield command, "\n".join(output)


def matches(shown: str, found: str) -> bool:
    """Whether a page shows what was printed; `…` stands for anything. White space at lines' ends does not count."""
    tidy = ["\n".join(line.rstrip() for line in text.strip().split("\n")) for text in (shown, found)]
    pattern = ".*".join(re.escape(part) for part in tidy[0].split("…"))
    return re.fullmatch(pattern, tidy[1], re.DOTALL) is not None


def links_of(page: Path) -> list[str]:
    """Where the page's links and pictures lead, outside of its blocks."""
    text = re.sub(r"^(`{3,}).*?^\1\s*$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [found[1] or found[2] for found in _LINK.finditer(re.sub(r"`[^`\n]*`", "", text))]


def tables_of(page: Path) -> list[list[dict[str, str]]]:
    """The page's tables, each a list of rows by column name, back quotes and bold marks removed."""
    tables: list[list[dict[str, str]]] = []
    header: list[str] | None = None
    for line in page.read_text(encoding="utf-8").split("\n"):
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip().strip("`*") for cell in line.strip("|").split("|")]
        if header is None:
            header = cells
            tables.append([])
        elif not set(line) <= set("|-: "):
            tables[-1].append(dict(zip(header, cells, strict=True)))
    return tables
