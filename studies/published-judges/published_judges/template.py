"""A page from a template of Markdown: names in braces become figures, and paragraphs are wrapped."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

WIDTH = 120
_NAME = re.compile(r"\{([a-z_0-9]+)\}")
_AS_IT_STANDS = ("|", "#", "```", "<!--", "![")


def filled(template: str, figures: Mapping[str, str]) -> str:
    """The page.

    Raises: ValueError for a name that the template has and nobody computes, or the other way round.
    """
    wanted = set(_NAME.findall(template))
    if wanted != set(figures):
        raise ValueError(f"the template and the figures differ in {', '.join(sorted(wanted ^ set(figures)))}")
    blocks = _NAME.sub(lambda found: figures[found[1]], template).strip().split("\n\n")
    return "\n\n".join(_wrapped(block) for block in blocks) + "\n"


def _wrapped(block: str) -> str:
    if block.startswith(_AS_IT_STANDS):
        return block
    lines = block.split("\n")
    return "\n".join(
        textwrap.fill(
            line,
            WIDTH,
            subsequent_indent="  " if line.startswith("- ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for line in lines
    )
