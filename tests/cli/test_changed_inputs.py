"""An input that is changed, or goes, between being read and being copied: no record of two halves, and no traceback.

After that the record has its own copy, and nothing that happens to the file matters.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbook.record import folder as records
from cli.commands import make_places
from running import benchbook_here

_JUDGE = "--judge scripted/j@1 --judge-path judge.json --run-id new"
ROWS = {
    "asked": f"run --evalset items.jsonl --model scripted/m@1 --model-path script.json --ids ids.txt --prompt-template "
    f"template.txt {_JUDGE}",
    "recorded": f"run --evalset items.jsonl --model recorded/m@1 --outputs outputs.jsonl "
    f"--spec ./mine_rubric@v1 {_JUDGE}",
    "scored": "score contains@v1 --evalset items5.jsonl --predictions predictions.jsonl --training-metrics log.jsonl "
    "--run-id new",
    "checked": "score ./mine_checks@v1 --evalset items5.jsonl --predictions predictions.jsonl --run-id new",
    "judged": "judge run judging.toml --spec ./mine_protocol@v1 --run-id new",
}
FILES = {
    "asked": ("items.jsonl", "ids.txt", "template.txt"),
    "recorded": ("items.jsonl", "outputs.jsonl", "mine_rubric@v1/spec.toml", "mine_rubric@v1/prompt.txt"),
    "scored": ("items5.jsonl", "predictions.jsonl", "log.jsonl"),
    "checked": ("items5.jsonl", "predictions.jsonl", "mine_checks@v1/spec.toml"),
    "judged": ("set/manifest.jsonl", "prompts.jsonl", "mine_protocol@v1/spec.toml", "mine_protocol@v1/prompt.txt"),
}
CHANGES: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b'{"id": "new", "item_id": "new", "prompt": "x"}\n'),
    "shorter": lambda path: path.write_bytes(path.read_bytes()[:40]),
    "other": lambda path: path.write_bytes(path.read_bytes().replace(b"a", b"b")),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00" * 50),
    "replaced": lambda path: shutil.copy(path, f"{path}.new") and Path(f"{path}.new").rename(path),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_places(tmp_path_factory.mktemp("places"))


def check(work: Path, monkeypatch: pytest.MonkeyPatch, row: str, change: Callable[[], object]) -> None:
    """Change a file just before it is copied: the run ends with 2 and no record, or with a record that holds."""
    real = records.create_record

    def changed(*words: Any, **more: Any) -> Any:
        change()
        return real(*words, **more)

    with monkeypatch.context() as patch:
        for module in list(sys.modules.values()):
            if getattr(module, "create_record", None) is real:
                patch.setattr(module, "create_record", changed)
        done = benchbook_here(*ROWS[row].split(), cwd=work)
    said, made = done.stderr.decode(), work / "runs" / "new"
    assert "Traceback" not in said
    if not made.exists():
        assert (done.returncode, said.count("benchbook: ")) == (2, 1), said
        return
    held = benchbook_here("verify", str(made))
    assert (done.returncode in (0, 1), held.returncode) == (True, 0), (said, held.stdout)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("row", ROWS)
def test_a_file_that_changes_before_it_is_copied(
    places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str, change: str
) -> None:
    number = list(CHANGES).index(change) % len(FILES[row])  # one of its files each time; the attack has them all
    work = shutil.copytree(places, tmp_path / "work", symlinks=True)
    check(work, monkeypatch, row, lambda: CHANGES[change](work / FILES[row][number]))
