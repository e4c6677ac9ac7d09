"""SPEC P5: every id gets a file of its own, whatever it holds."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.views.protocol import archive_model as module
from benchbook.views.protocol.archive_model import MAX_LENGTH, safe_names

HOSTILE = [
    "../../etc/passwd", "/", "a/b", "a\\b", "a\0b", "\0", "CON", "con", "nul.txt", "LPT1", "com7.log", "x" * 300, "Q3",
    "q3", "é", "e\u0301", "", " ", ".", "..", ".hidden", "-rf", "end.", "end ", "a__b", "_a", "a_", "\ud800",
    "\u202egnp", "ﬁle", "file", "~", "a~b", "漢字", "%2e%2e", "a:b", "a*?<>|\"", "\n", "com²",
]  # fmt: skip

ids = st.text(st.characters(codec=None), max_size=80) | st.sampled_from(HOSTILE) | st.text("aA._-~/é", max_size=5)


def test_plain_ids_keep_their_names() -> None:
    for one in ("Q3", "A", "long-explicit", "q3_baseline_explicit.pdf", "v1.2", "0"):
        assert safe_names([one]) == {one: one}


@pytest.mark.parametrize(
    ("one", "legible"),
    [
        pytest.param("nimbus/writer-4@2026-02-11", "nimbus-writer-4-2026-02-11", id="model"),
        pytest.param("../../etc/passwd", "etc-passwd", id="climbs"),
        pytest.param("CON", "CON", id="device"),
        pytest.param("nul.txt", "nul-txt", id="device with an ending"),
        pytest.param("漢字", "id", id="nothing legible"),
        pytest.param("", "id", id="empty"),
        pytest.param("x" * 300, "x" * 32, id="long"),
        pytest.param("a__b", "a-b", id="holds what joins names"),
    ],
)
def test_other_ids_are_what_is_legible_and_a_hash(one: str, legible: str) -> None:
    name = safe_names([one])[one]
    assert re.fullmatch(re.escape(legible) + "~[0-9a-f]{12}", name)


def test_ids_that_differ_by_case_alone_both_get_a_hash() -> None:
    names = safe_names(["Q3", "q3", "Q4"])
    assert names["Q4"] == "Q4"
    assert re.fullmatch("Q3~[0-9a-f]{12}", names["Q3"])
    assert re.fullmatch("q3~[0-9a-f]{12}", names["q3"])


def test_hostile_ids_each_get_a_file_of_their_own(tmp_path: Path) -> None:
    names = safe_names(HOSTILE)
    assert len({name.lower() for name in names.values()}) == len(HOSTILE)
    for name in names.values():
        (tmp_path / name).write_bytes(b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names.values())


def test_hashes_that_begin_alike_get_more_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEWEST_DIGITS", 0)
    names = safe_names([f"/{number}" for number in range(40)])
    assert len(set(names.values())) == 40


@given(st.lists(ids, max_size=12))
def test_names_are_safe_distinct_and_depend_on_the_set_alone(some: list[str]) -> None:
    names = safe_names(some)
    assert names == safe_names(reversed([*some, *some]))
    assert set(names) == set(some)
    folded = {unicodedata.normalize("NFKC", name).casefold() for name in names.values()}
    assert len(folded) == len(names)
    for name in names.values():
        assert re.fullmatch(r"[A-Za-z0-9._~-]+", name)
        assert 0 < len(name) <= MAX_LENGTH
        assert "__" not in name
        assert not name.startswith((".", "-", "_"))
        assert not name.endswith((".", "_"))
        assert name.split(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt1"}


@given(st.lists(st.tuples(ids, ids), max_size=8, unique=True))
def test_joined_names_come_apart_again(pairs: list[tuple[str, str]]) -> None:
    firsts, seconds = safe_names(one for one, _ in pairs), safe_names(two for _, two in pairs)
    joined = {f"{firsts[one]}__{seconds[two]}" for one, two in pairs}
    assert len(joined) == len(pairs)
