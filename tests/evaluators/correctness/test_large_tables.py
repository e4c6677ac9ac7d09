"""Tables of many items, a slice at a time: rows, sums and messages are those of all at once (SPEC A1 to A5, C2)."""

from __future__ import annotations

import errno
import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import BenchbookError, RecordError
from benchbook.evaluators.answers.scorecard import Scorecard
from benchbook.evaluators.correctness import large_tables, tables
from benchbook.evaluators.correctness.tables import score_table
from benchbook.record.tables import _GroupWriter
from scored import write_lines
from support import examples

_TEXTS = ["2", "Paris", " PARIS ", "It is 2.", "Answer: 2", "ſ", "Straße", "2.0", "", "x\ny"]


class Made(NamedTuple):
    """What came of two files; of a table or an error."""

    rows: pl.DataFrame | None
    card: Scorecard | None
    said: str | None


def scored_at_once(folder: Path, files: tuple[Path, Path], **columns: str) -> Made:
    target = folder / "out.parquet"
    target.unlink(missing_ok=True)
    try:
        card = score_table(*files, target, columns=columns)
    except BenchbookError as error:
        assert not target.exists()
        return Made(None, None, f"{type(error).__name__}: {error}")
    return Made(pl.read_parquet(target), card, None)


def scored_in_slices(folder: Path, files: tuple[Path, Path], **columns: str) -> tuple[Made, bool]:
    """The same, three items at a time, and whether the table was made so; the files are read five rows at a time."""
    went: list[bool] = []
    score = large_tables.score_in_slices

    def noted(*args: Any, **more: Any) -> Scorecard | None:
        card = score(*args, **more)
        went.append(card is not None)
        return card

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "MOST_ITEMS_AT_ONCE", 0)
        patch.setattr(large_tables, "MOST_ROWS", 3)
        patch.setattr(large_tables, "_KEYS_AT_ONCE", 2)
        patch.setattr(large_tables, "score_in_slices", noted)
        patch.setattr("benchbook.evaluators.correctness.item_tables._ITEMS_AT_ONCE", 2)
        patch.setattr("benchbook.evalsets.parquet._MOST_ROWS", 5)
        patch.setattr("benchbook.evalsets.parquet._FEW_ROWS", 5)
        patch.setattr("benchbook.evalsets.predictions._BATCH", 5)
        return scored_at_once(folder, files, **columns), went == [True]


def assert_alike(found: Made, expected: Made) -> None:
    assert (found.card, found.said) == (expected.card, expected.said)
    if found.rows is None or expected.rows is None:
        assert found.rows is expected.rows
    else:
        assert found.rows.schema == expected.rows.schema
        assert found.rows.rows() == expected.rows.rows()


def items(n: int) -> list[dict[str, Any]]:
    sections = ("core", "edge_case", None, "own")
    return [
        {
            "id": f"item-{number}é", "prompt": "?", "expected_answer": ("2", "Paris", "STRASSE", "5.50")[number % 4],
            "section": sections[number % 4], "difficulty": "easy" if number % 3 else None,
            "answer_format": "answer_prefix" if number % 5 == 0 else None,
        }
        for number in range(n)
    ]  # fmt: skip


def predictions(n: int) -> list[dict[str, Any]]:
    return [
        {
            "item_id": f"item-{number}é", "predicted": _TEXTS[number % len(_TEXTS)],
            "expected": items(4)[number % 4]["expected_answer"] if number % 2 else None, "eval_time_ms": number,
        }
        for number in range(n)
    ]  # fmt: skip


_ITEMS = dict.fromkeys(("id", "prompt", "expected_answer", "section", "difficulty", "answer_format"), pl.String)
_PREDICTIONS = {"item_id": pl.String, "predicted": pl.String, "expected": pl.String, "eval_time_ms": pl.Int64}


def written(path: Path, rows: Sequence[Mapping[str, Any]], schema: dict[str, Any], group: int = 7) -> Path:
    frame = pl.DataFrame(rows, schema, orient="row")
    if path.suffix == ".parquet":
        frame.write_parquet(path, row_group_size=group)
    elif path.suffix == ".csv":
        frame.write_csv(path)
    else:
        filled = [{name: value for name, value in row.items() if value is not None} for row in rows]
        write_lines(path, filled)
    return path


def two_files(
    folder: Path,
    of_items: list[dict[str, Any]],
    said: list[dict[str, Any]],
    forms: str = "parquet parquet",
    group: int = 7,
) -> tuple[Path, Path]:
    of_set, of_said = forms.split()
    return (
        written(folder / f"items.{of_set}", of_items, _ITEMS, group),
        written(folder / f"said.{of_said}", said, _PREDICTIONS, group),
    )


@pytest.mark.slow
@pytest.mark.parametrize("of_said", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("of_set", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("n", [1, 3, 4, 20])
def test_a_table_in_slices_is_the_whole_table(of_set: str, of_said: str, n: int, tmp_path: Path) -> None:
    said = predictions(n)
    random.Random(n).shuffle(said)
    files = two_files(tmp_path, items(n), said[n // 4 :], f"{of_set} {of_said}")
    found, in_slices = scored_in_slices(tmp_path, files)
    assert in_slices
    assert found.card is not None
    assert (found.card.n_items, found.card.n_scored) == (n, n - found.card.n_skipped)
    assert_alike(found, scored_at_once(tmp_path, files))


@pytest.mark.slow
@examples(60)
@given(data=st.data())
def test_neither_order_nor_groups_nor_gaps_matter(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ids = data.draw(
        st.lists(st.text("aé \U0001f600", min_size=1, max_size=3).filter(str.strip), max_size=14, unique=True)
    )
    texts = st.sampled_from(_TEXTS)
    formats = st.sampled_from([None, "answer_prefix"])
    of_items = [
        {"id": one, "expected_answer": data.draw(texts.filter(str.strip)), "answer_format": data.draw(formats)}
        for one in ids
    ]
    said = [{"item_id": one, "predicted": data.draw(st.none() | texts)} for one in data.draw(st.permutations(ids))]
    faults = data.draw(st.lists(st.sampled_from([{"item_id": "zz"}, *said]), max_size=1)) if said else []
    said = [*said[data.draw(st.integers(0, 2)) :], *faults]
    folder = tmp_path_factory.mktemp("tables")
    files = two_files(folder, of_items, said, "parquet parquet", data.draw(st.integers(1, 9)))
    found, in_slices = scored_in_slices(folder, files)
    assert in_slices == (found.said is None and bool(ids))
    assert_alike(found, scored_at_once(folder, files))


def _change(place: int, **values: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda rows: rows[place].update(values)


@pytest.mark.parametrize("forms", ["parquet parquet", "jsonl jsonl", "jsonl csv"])
@pytest.mark.parametrize(
    ("of_items", "of_said", "says"),
    [
        pytest.param(None, _change(9, item_id="item-2é"), "again", id="again"),
        pytest.param(None, _change(8, item_id="Item-8é"), "item_id", id="unknown"),
        pytest.param(None, _change(7, expected="another"), "expected", id="another-expected"),
        pytest.param(None, _change(11, item_id=None), "item_id", id="no-id"),
        pytest.param(None, _change(11, eval_time_ms=-1), "eval_time_ms", id="negative-time"),
        pytest.param(_change(7, id="item-1é"), None, "item-1é", id="item-again"),
        pytest.param(_change(7, expected_answer=" "), None, "expected", id="blank"),
        pytest.param(_change(7, answer_format="xml"), None, "answer_format", id="format"),
        pytest.param(_change(7, id=None), None, "id", id="item-without-id"),
    ],
)  # fmt: skip
def test_faults_are_told_in_the_same_words(
    forms: str, of_items: Callable[..., None] | None, of_said: Callable[..., None] | None, says: str, tmp_path: Path
) -> None:
    a, b = items(12), predictions(12)
    b.append({"item_id": "nobody", "predicted": "2"})  # a fault that comes later
    if of_items is not None:
        of_items(a)
        b.pop()
    if of_said is not None:
        of_said(b)
    files = two_files(tmp_path, a, b, forms)
    found, in_slices = scored_in_slices(tmp_path, files)
    assert not in_slices
    assert found.said is not None
    assert says in found.said
    assert_alike(found, scored_at_once(tmp_path, files))


@pytest.mark.parametrize(
    ("said", "is_fault"),
    [
        pytest.param({"predicted": pl.Series([float("nan")] * 9)}, False, id="nan-alone"),
        pytest.param({"predicted": pl.Series([float("nan")] * 8 + [1.0])}, True, id="a-number"),
        pytest.param({"predicted": pl.Series([None] * 9)}, False, id="nulls"),
        pytest.param({"predicted": pl.Series(["2"] * 9, dtype=pl.Categorical)}, False, id="categories"),
        pytest.param({"eval_time_ms": pl.Series([float("nan")] + [2.0] * 8)}, False, id="times-as-floats"),
        pytest.param({"eval_time_ms": pl.Series([2.0] * 8 + [0.5])}, True, id="half-a-millisecond"),
    ],
)
def test_columns_as_other_programs_write_them(said: dict[str, pl.Series], is_fault: bool, tmp_path: Path) -> None:
    files = two_files(tmp_path, items(9), predictions(9))
    pl.DataFrame(predictions(9), _PREDICTIONS, orient="row").with_columns(**said).write_parquet(files[1])
    found, in_slices = scored_in_slices(tmp_path, files)
    assert in_slices is not is_fault
    assert_alike(found, scored_at_once(tmp_path, files))


def test_columns_under_other_names(tmp_path: Path) -> None:
    files = two_files(tmp_path, items(9), [])
    pl.DataFrame(predictions(9), _PREDICTIONS, orient="row").rename({"predicted": "mine"}).write_parquet(files[1])
    found, in_slices = scored_in_slices(tmp_path, files, predicted="mine")
    assert in_slices
    assert_alike(found, scored_at_once(tmp_path, files, predicted="mine"))
    assert_alike(scored_in_slices(tmp_path, files, other="x")[0], scored_at_once(tmp_path, files, other="x"))


@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv"])
def test_a_file_without_a_prediction(form: str, tmp_path: Path) -> None:
    files = two_files(tmp_path, items(5), [], f"parquet {form}")
    found, in_slices = scored_in_slices(tmp_path, files)
    assert in_slices
    assert_alike(found, scored_at_once(tmp_path, files))


@pytest.mark.parametrize(
    "name",
    [pytest.param("gone.parquet", id="gone"), pytest.param("a.txt", id="form"), pytest.param("b.parquet", id="bad")],
)
def test_predictions_that_can_not_be_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "b.parquet").write_bytes(b"PAR1 not")
    files = (two_files(tmp_path, items(5), [])[0], tmp_path / name)
    found, in_slices = scored_in_slices(tmp_path, files)
    assert not in_slices
    assert found.said is not None
    assert_alike(found, scored_at_once(tmp_path, files))


@pytest.mark.parametrize(("n_seeds", "in_slices"), [(1, True), (2, True), (3, False)])
def test_hashes_that_agree_are_made_in_another_way(
    n_seeds: int, in_slices: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the first `n_seeds - 1` of three seeds all ids have one hash, or with every seed; then it is not done so."""
    hashes = large_tables._SliceOfId._hashes

    def alike(self: Any, ids: pl.Series) -> Any:
        found = hashes(self, ids)
        return found if self._seed >= n_seeds - (n_seeds < 3) else found & self._slice_bits

    monkeypatch.setattr(large_tables._SliceOfId, "_hashes", alike)
    files = two_files(tmp_path, items(9), predictions(9)[::-1])
    found, went = scored_in_slices(tmp_path, files)
    assert went is in_slices
    assert_alike(found, scored_at_once(tmp_path, files))


@pytest.mark.parametrize(
    ("length", "n_rows"),
    [pytest.param(10, 100, id="short"), pytest.param(2_000, 50, id="long"), pytest.param(90_000, 4, id="very-long")],
)
def test_long_texts_make_slices_of_fewer_rows(length: int, n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_tables, "MOST_ROWS", 100)
    monkeypatch.setattr(large_tables, "LEAST_ROWS", 4)
    monkeypatch.setattr(large_tables, "SLICE_BYTES", 105_000)
    some = pl.DataFrame({"predicted": ["x" * length] * 7})
    found = large_tables._rows_of_a_slice(some, pl.DataFrame(schema={"item_id": pl.String}))
    assert abs(found - n_rows) <= 3


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for temporary files, which is empty afterwards."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("n_said", [20, 21])
@pytest.mark.usefixtures("scratch")
def test_nothing_temporary_is_left(n_said: int, tmp_path: Path) -> None:
    files = two_files(tmp_path, items(20), predictions(n_said))
    assert scored_in_slices(tmp_path, files)[1] is (n_said == 20)


@pytest.mark.parametrize("where", ["add", "take"])
@pytest.mark.usefixtures("scratch")
def test_nothing_is_left_of_what_was_interrupted(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    method = getattr(large_tables._Parted, where)

    def interrupted(self: Any, *args: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return method(self, *args)

    monkeypatch.setattr(large_tables._Parted, where, interrupted)
    folder = tmp_path / "made"
    folder.mkdir()
    files = two_files(tmp_path, items(20), predictions(20))
    with pytest.raises(KeyboardInterrupt):
        scored_in_slices(folder, files)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("where", ["add", "take"])
@pytest.mark.usefixtures("scratch")
def test_without_room_for_temporary_files_all_are_scored_at_once(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(large_tables._Parted, where, full)
    files = two_files(tmp_path, items(20), predictions(20))
    found, in_slices = scored_in_slices(tmp_path, files)
    assert not in_slices
    assert_alike(found, scored_at_once(tmp_path, files))


@pytest.mark.usefixtures("scratch")
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put = _GroupWriter._put

    def full(self: Any, data: Any) -> None:
        if self._at > 2_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        put(self, data)

    monkeypatch.setattr(_GroupWriter, "_put", full)
    folder = tmp_path / "made"
    folder.mkdir()
    files = two_files(tmp_path, items(20), predictions(20))
    found, _ = scored_in_slices(folder, files)
    assert (
        found.said
        == f"{RecordError.__name__}: {folder / 'out.parquet'}: can't be written ({os.strerror(errno.ENOSPC)})"
    )
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    files = two_files(tmp_path, items(20), predictions(20))
    found, _ = scored_in_slices(tmp_path / "gone", files)
    assert found.said is not None
    assert_alike(found, scored_at_once(tmp_path / "gone", files))


def test_the_table_may_take_the_place_of_what_was_read(tmp_path: Path) -> None:
    files = two_files(tmp_path, items(20), predictions(20))
    whole = scored_at_once(tmp_path, files)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "MOST_ITEMS_AT_ONCE", 0)
        patch.setattr(large_tables, "MOST_ROWS", 3)
        card = score_table(*files, files[0])
    assert_alike(Made(pl.read_parquet(files[0]), card, None), whole)
    assert json.loads(json.dumps(pl.read_parquet(files[0])["item_id"].to_list())) == [f"item-{n}é" for n in range(20)]
