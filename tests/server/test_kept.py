"""Results that are kept in memory: which go first, how large tables are, and columns that runs have alike."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from benchbook.server import services
from benchbook.server.comparisons import compared
from benchbook.server.frames import frame_bytes, with_shared
from benchbook.server.row_lists import _most_orders
from benchbook.server.services import Kept
from benchbook.system.memory import give_freed_memory_back, resident_bytes
from server.making import Api

MB = 1 << 20


def held(kept: Kept, *names: str) -> list[str]:
    return [name for name in names if kept.peek(name) is not None]


def test_the_least_recently_used_goes_first() -> None:
    kept = Kept(10)
    for name in "abc":
        kept.put(name, name, 4)
    assert held(kept, "a", "b", "c") == ["b", "c"]
    kept.peek("b")
    kept.put("d", "d", 4)
    assert (held(kept, "b", "c", "d"), kept.n_bytes) == (["b", "d"], 8)
    kept.put("large", "large", 11)
    assert held(kept, "b", "d", "large") == ["b", "d"]


def test_a_large_result_makes_room_until_the_process_holds_little_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that goes frees 2 MB, whatever its size was thought to be."""
    kept = Kept(100 * MB, most_resident=10 * MB)
    monkeypatch.setattr(services, "resident_bytes", lambda: 2 * MB * len(kept._values))
    for name in "abcde":
        kept.put(name, name, 3 * MB)
    kept.put("small", "small", 10)  # looks at nothing
    assert held(kept, *"abcde", "small") == [*"abcde", "small"]
    kept.put("f", "f", MB)
    assert held(kept, *"abcdef", "small") == ["c", "d", "e", "f", "small"]


def test_the_newest_stays_though_the_process_holds_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "resident_bytes", lambda: 1 << 40)
    kept = Kept(100 * MB, most_resident=10 * MB)
    for name in "ab":
        kept.put(name, name, MB)
    assert held(kept, "a", "b") == ["b"]


@pytest.mark.parametrize("resident", [None, 0])
def test_where_the_system_tells_nothing_sizes_alone_count(
    monkeypatch: pytest.MonkeyPatch, resident: int | None
) -> None:
    monkeypatch.setattr(services, "resident_bytes", lambda: resident)
    kept = Kept(4 * MB, most_resident=1)
    for name in "abcde":
        kept.put(name, name, MB)
    assert held(kept, *"abcde") == [*"bcde"]


def test_memory_of_this_process() -> None:
    found = resident_bytes()
    if not Path("/proc/self/statm").exists():
        assert found is None
        return
    assert found is not None
    block = bytearray(b"x" * (64 * MB))
    assert (resident_bytes() or 0) > found + len(block) // 2


def test_who_set_the_allocators_options_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = "background_thread:true,dirty_decay_ms:0,muzzy_decay_ms:0"
    of_polars = "dirty_decay_ms:500,muzzy_decay_ms:1000"
    for before, after in {"": ours, of_polars: ours, "a:1": f"{ours},a:1", f"{of_polars},a:1": f"{ours},a:1"}.items():
        monkeypatch.setenv("_RJEM_MALLOC_CONF", before)
        for _ in range(2):
            give_freed_memory_back()
            assert os.environ["_RJEM_MALLOC_CONF"] == after


@pytest.mark.parametrize(
    ("column", "n_bytes"),
    [
        (pl.Series([1, 2, 3]), 24),
        (pl.Series(["a" * 12, "b", None]), 48),  # in the views
        (pl.Series(["a" * 13, "b", None]), 61),
        (pl.Series([None, None], dtype=pl.String), 0),
        (pl.Series([["a"], [], ["b" * 20, "c"]]), 24 + 48 + 20),
        (pl.Series([], dtype=pl.String), 0),
    ],
)
def test_bytes_of_a_column(column: pl.Series, n_bytes: int) -> None:
    assert frame_bytes(pl.DataFrame({"x": column})) == n_bytes


def test_equal_columns_are_held_once() -> None:
    kept = Kept(MB)
    one = pl.DataFrame({"prompt": ["a", "b"], "other": ["a", None], "text": ["x", "y"]})
    names = frozenset(("prompt", "other", "absent"))
    assert with_shared(kept, "set", one, names).equals(one)
    other = pl.DataFrame({"prompt": ["a", "b"], "other": ["a", "c"], "text": ["z", None]})
    found = with_shared(kept, "set", other, names)
    assert found.equals(other)
    assert found.columns == other.columns
    longer = pl.concat([one, other])
    assert with_shared(kept, "set", longer, names).equals(longer)
    numbers = pl.DataFrame({"prompt": [1, 2]})
    assert with_shared(kept, "set", numbers, names).equals(numbers)


def test_runs_over_one_set_hold_its_texts_once(api: Api) -> None:
    found = api.app.services.run("a")
    items = compared(api.app.services, found).items
    first = api.app.services.kept.peek(("columns", found.row.dataset_sha256))
    assert first.select("item_id", "prompt").equals(items.select("item_id", "prompt"))
    assert "text" not in first.columns


@pytest.mark.parametrize(("n_rows", "most"), [(0, 16), (10, 16), (262_144, 16), (1_000_000, 4), (10_000_000, 2)])
def test_few_orders_of_a_long_list_are_kept(n_rows: int, most: int) -> None:
    assert _most_orders(n_rows) == most


def test_what_is_being_made_is_waited_for_and_a_failure_stays_nowhere() -> None:
    kept, calls = Kept(MB), iter([ValueError("no"), "made"])

    def make() -> str:
        found = next(calls)
        if isinstance(found, Exception):
            raise found
        return found

    with pytest.raises(ValueError, match="no"):
        kept.get("x", make, len)
    assert [kept.get("x", make, len) for _ in range(2)] == ["made", "made"]
