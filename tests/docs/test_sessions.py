"""The tests of the manual could not fail if these were wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.sessions import Block, blocks_of, matches, stands_in, steps_of


@pytest.mark.parametrize(
    ("shown", "found", "expected"),
    [
        pytest.param("one\ntwo", "one\ntwo\n", True, id="the-same"),
        pytest.param("one", "one\ntwo", False, id="more-than-shown"),
        pytest.param("one\n…", "one\ntwo\nthree", True, id="the-rest-is-anything"),
        pytest.param("one …\nlast", "one (1)\ntwo\nlast", True, id="a-gap"),
        pytest.param("one …\nlast", "one (1)\ntwo", False, id="the-end-is-missing"),
        pytest.param("", "something", False, id="silence-is-shown"),
    ],
)
def test_what_is_shown_is_what_is_printed(shown: str, found: str, expected: bool) -> None:
    assert matches(shown, found) is expected


def test_a_console_block_is_commands_and_their_output() -> None:
    text = "$ one \\\n>   --more\nsaid\n$ two\n"
    assert list(steps_of(Block(Path("page.md"), 1, "console", text))) == [("one \\\n  --more", "said"), ("two", "")]


def test_a_directive_belongs_to_the_next_block(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- test: exit 3 -->\n```sh\nfalse\n```\n\n```sh\ntrue\n```\n", encoding="utf-8")
    assert [(block.exit_code, block.text) for block in blocks_of(page)] == [(3, "false\n"), (0, "true\n")]


def test_a_directive_without_a_block_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- test: exit 3 -->\n\nWords.\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="right in front of a block"):
        blocks_of(page)


@pytest.mark.parametrize(
    ("says", "folder"),
    [
        pytest.param(
            "The commands here run in [`docs/examples`](../examples) of a checkout.", "docs/examples", id="there"
        ),
        pytest.param("Try it in the root\nof a checkout:", ".", id="the-root-on-two-lines"),
        pytest.param("Its files lie in `docs/examples`.", None, id="said-of-files-alone"),
    ],
)
def test_a_reader_stands_where_the_page_says_above_its_first_command(
    says: str, folder: str | None, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# A page\n\n{says}\n\n```sh\ntrue\n```\n", encoding="utf-8")
    (block,) = blocks_of(page)
    assert stands_in(page, block.line) == folder
    assert stands_in(page, 2) is None
