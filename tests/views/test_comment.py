"""A run as a comment: what it says, that hostile texts are words and no more, that it is short enough."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.comparison.compared import compare
from benchbook.comparison.regressions import check_regressions
from benchbook.evaluators.document import Listed, Opening
from benchbook.text import one_line
from benchbook.views.comment import MOST_CHARACTERS, CommentReport, comment_markdown, inert
from benchbook.views.markdown import inline
from compared import answer, answers, unanswered
from support import examples
from views.made_up import HOSTILE

HASH = "c0ffee" * 10 + "1234"
PLAIN = Opening("Score 0.5", "none")
OWN = Opening("Not ready", "bad", "NOT_READY", ("Two gates fail.",), (Listed(("pass_rate is 0.2",), "Why"),))


def report(a: Any, b: Any, *, margin: float | None = 0.05, own: Opening = PLAIN) -> CommentReport:
    pair = compare(a, b, margin=margin)
    return CommentReport("run-b", HASH, own, (), check_regressions(pair), pair)


def shown(*args: Any, **more: Any) -> str:
    return comment_markdown(report(*args, **more), "mine")


def test_it_says_what_was_lost_and_won_item_by_item() -> None:
    a = answers("a", answer("i", "yes"), answer("j", "no"), answer("k", "yes"), journal_sha256="ab" * 32)
    b = answers("b", answer("i", "no idea"), answer("j", "yes"), answer("k", "yes"))
    found = shown(a, b)
    assert found.startswith("<!-- benchbook-comment mine -->\n\n# The gate can't tell (`undecided`)\n")
    assert "1 lost, 1 won of 3: score 0.6667 → 0.6667" in found
    assert "% interval" in found
    assert "## Lost: 1 item\n\n| Item | Score | Expected | A | B |\n" in found
    assert "| i | 1.0000 → 0.0000 | yes | yes | no idea |\n" in found
    assert "| j | 0.0000 → 1.0000 | yes | no | yes |\n" in found
    assert f"- **Record**: `{HASH}`\n- **Baseline**: a (`{'ab' * 32}`)\n" in found
    assert f"benchbook verify run-b --expect {HASH}\n" in found


def test_what_could_not_be_told_is_named_with_why() -> None:
    a = answers("a", answer("i", "yes"), answer("j", "yes"), answer("k", "yes"))
    b = answers("b", answer("i", "yes"), answer("j", "yes", expected="no"), answer("l", "yes"))
    found = shown(a, b)
    assert "## Can't be told: 3 items\n" in found
    assert "| j | its expected answer is another than in A |\n| k | not in B |\n| l | not in A |\n" in found


def test_what_was_not_answered_is_missing_and_not_lost() -> None:
    found = shown(unanswered("a", [1.0, 1.0]), unanswered("b", [1.0, None]))
    assert "## Lost" not in found
    assert "| i1 | not answered in B \\(provider\\_error\\): missing, not lost |" in found


def test_the_runs_own_decision_stands_beside() -> None:
    run = answers("a", answer("i", "yes"))
    found = shown(run, answers("b", answer("i", "yes")), own=OWN)
    assert "# The gate holds (`holds`)" in found
    assert "## The run by itself\n\nNot ready \\(NOT\\_READY\\)." in found
    alone = comment_markdown(CommentReport("r", HASH, OWN), "x")
    assert alone.startswith("<!-- benchbook-comment x -->\n\n# Not ready (`NOT_READY`)\n\nTwo gates fail.\n")
    assert "What changed" not in alone


# ── hostile ──────────────────────────────────────────────────────────────────────────────────────────────────

# A text, and what must not be left of it once Markdown is HTML and its references are characters.
ACTED_UPON = {
    "@octocat": r"@\w",
    "@org/team": r"@\w",
    "a@b.example": r"@\w",
    "#12": r"#\d",
    "owner/name#12": r"#\d",
    "GH-12": r"GH-\d",
    "!34": r"!\d",
    "~bug": r"~\w",
    '~"a label"': r'~"',
    "%5": r"%\d",
    '%"a milestone"': r'%"',
    "$7": r"\$\d",
    "&9": r"&\d",
    "^alert#3": r"#\d",
    "[[Home]]": r"\[\[",
    "[vulnerability:3]": r"\[v",
    "*iteration:3": r"\*i",
    "https://evil.example/x": r"://",
    "www.evil.example": r"www\.\w",
    "0123abc": r"[0-9a-f]{7}",
    "deadbeef1" * 4: r"[0-9a-f]{7}",
    "<img src=x onerror=y>": "",
    "![x](y)": r"!\[",
    "a | b": "",
    "<!-- benchbook-comment mine -->": "",
    "`code`": "",
}


def as_seen(markdown: str) -> str:
    """Markdown's text as HTML has it: without backslashes, with references as characters, without code."""
    plain = re.sub(r"(?<!\\)`[^`\n]+`|^```text\n.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    plain = re.sub(r"\\([\\`*_{}\[\]()#+!~^$])", r"\1", plain)
    return re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), plain)


@pytest.mark.parametrize("text", ACTED_UPON)
def test_a_forge_finds_nothing_to_act_upon(text: str) -> None:
    rows = [answer(f"{text} {n}", text, expected="yes" if n else text) for n in range(2)]
    other = [answer(f"{text} {n}", "yes" if n else "no", expected="yes" if n else text) for n in range(2)]
    found = shown(answers(text, *rows), answers(f"{text} b", *other))
    lines = [line for line in found.splitlines()[1:] if line.startswith("| ") and "→" in line]
    assert len(lines) == 2
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 6 for line in lines)
    for line in lines:
        assert not (ACTED_UPON[text] and re.search(ACTED_UPON[text], as_seen(line[2:-2]))), line
    assert found.count("<") == found.count("<!-- benchbook-comment mine -->") == 1


def test_what_is_read_is_what_was_written() -> None:
    text = 'Ask @octocat or https://evil.example/?a=1 about #12 & "~bug" 0123abcdef!'
    found = shown(answers("a", answer("i", "yes")), answers("b", answer("i", text)))
    assert text in as_seen(found).replace("\u200b", "")


@examples(100)
@given(st.text(alphabet='@#!~%$&^*[]:/.wGH-12ab`\\\\<>|" \n_{}()+=x', max_size=40))
def test_any_text_is_read_as_written_and_acted_upon_by_nobody(text: str) -> None:
    seen = as_seen(f"| {inert(inline(text))} |")[2:-2]
    assert seen.replace("\u200b", "") == one_line(text)
    assert not re.search(r"@\w|#\d|://|www\.\w|\bGH-\d|[!$&]\d|[~%][\w\"]|\[[\w\[]", seen)


def test_code_stays_as_it_is() -> None:
    marked = "`0123abcdef` &#64;x\n\n```text\n#12 &#64;x /y\n```\n\n/close \\`0123abcdef\\`\n"
    assert inert(marked) == (
        "`0123abcdef` &#64;&#8203;x\n\n```text\n#12 &#64;x /y\n```\n\n&#8203;/close \\`0123ab&#8203;cdef\\`\n"
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_no_line_is_an_order(text: str) -> None:
    found = shown(answers("a", answer("i", "yes")), answers("b", answer("i", f"/close\n/merge {text}")))
    assert not re.search(r"^\s*/", found, re.MULTILINE)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", found)


# ── its length ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["@" * 200, "x", "😀" * 200])
def test_it_is_never_longer_than_a_forge_takes(text: str) -> None:
    before = [answer(f"{n} {text}", "yes") for n in range(700)]
    now = [answer(f"{n} {text}", text) for n in range(700)]
    found = shown(answers("a", *before), answers("b", *now))
    n_rows = found.count("→ 0.0000 |")
    assert len(found) <= MOST_CHARACTERS
    assert 0 < n_rows <= 100
    assert f"… and {700 - n_rows:,} more; `benchbook compare` has them all." in found.replace("\\", "")


def test_words_without_end_are_cut() -> None:
    own = Opening("Headline", "bad", None, tuple(f"sentence {n} " + "@" * 5000 for n in range(20)))
    found = comment_markdown(CommentReport("r", HASH, own), "x")
    assert len(found) <= MOST_CHARACTERS
    assert found.endswith("\n\nCut here: a comment can't be longer.\n")
