"""Golden bytes: every report, archive, derived file and answer of the recorded runs is what it was (CHANGES.md).

`GOLDEN_KEEP=FOLDER` keeps all views as files, so that `diff -r` tells two versions of the code apart. Where a named
defect was mended, this takes over what is made now:
`PYTHONPATH=src:tests python tests/golden/test_golden_bytes.py --renew [RECORD [VIEW]]`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from golden.views import ALL, OWN, Server, Views, served

GOLDEN = Path(__file__).parent / "golden.json"
_ABSOLUTE = re.compile(rb'["\s=](?:/[\w.-]|[A-Za-z]:\\\\)|file:/|"host(?:name)?":')
_LONG = re.compile(rb"\d+\.\d{13,}(?:e[+-]?\d+)?")


def golden() -> dict[str, dict[str, str]]:
    """The SHA-256 of each view of each record."""
    return dict(json.loads(GOLDEN.read_bytes())) if GOLDEN.exists() else {}


def hashes(views: Views) -> dict[str, str]:
    return {view: hashlib.sha256(_LONG.sub(_to_nine_digits, text)).hexdigest() for view, text in sorted(views.items())}


def _to_nine_digits(number: re.Match[bytes]) -> bytes:
    """Sums of products, as OpenBLAS makes them, differ from one kind of processor to another in their last digits."""
    return b"%.9g" % float(number[0])


def keep(views: Views, folder: Path) -> None:
    for view, text in views.items():
        path = folder / view
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("golden")) as made:
        yield made


@pytest.mark.parametrize("name", ALL)
def test_every_view_is_what_it_was(server: Server, name: str, tmp_path: Path) -> None:
    views = ALL[name](server)
    if folder := os.environ.get("GOLDEN_KEEP"):
        keep(views, Path(folder) / name)
    expected, found = golden().get(name, {}), hashes(views)
    changed = [view for view in sorted(expected.keys() | found) if expected.get(view) != found.get(view)]
    keep({view: views[view] for view in changed if view in views}, tmp_path)
    told = {view: "new" if view not in expected else "gone" if view not in found else "changed" for view in changed}
    assert not changed, (
        f"{name}: " + ", ".join(f"{view} ({what})" for view, what in told.items()) + f"; as made now: {tmp_path}. "
        "To see what changed, run this with GOLDEN_KEEP=FOLDER on both versions of the code, and `diff -r`."
    )


def test_what_is_golden_is_made() -> None:
    """No record loses its views by losing its place."""
    assert sorted(golden()) == sorted(ALL)


def test_no_record_names_the_machine_that_made_it() -> None:
    """No absolute path, in JSON or in a text; no name of a host."""
    for path in OWN.rglob("*"):
        if path.is_file():
            assert not (found := _ABSOLUTE.search(path.read_bytes())), (path, found)


def renew(record: str | None = None, view: str | None = None) -> None:
    """Writes golden.json as views are made now: all of them, those of one record, or one."""
    kept = {name: views for name, views in golden().items() if name in ALL}
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as made:
        for name in ALL if record is None else [record]:
            found = hashes(ALL[name](made))
            kept[name] = found if view is None else dict(sorted((kept[name] | {view: found[view]}).items()))
    GOLDEN.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--renew"] or len(sys.argv) > 4:
        sys.exit("expected --renew [RECORD [VIEW]]")
    renew(*sys.argv[2:])
