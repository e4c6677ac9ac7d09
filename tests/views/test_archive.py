"""SPEC P5, P7: the archive of evaluations, written whole, read back, and rebuilt byte for byte."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchbook.errors import RecordError, UsageError
from benchbook.evaluators.derivation import DERIVATION
from benchbook.evaluators.protocol.evaluation_rows import (
    CellId,
    EvaluationRow,
    JudgedText,
    ReadRow,
    asked_about,
    evaluation_row,
    row_kind,
    sorted_rows,
)
from benchbook.evaluators.protocol.findings import SameModel
from benchbook.evaluators.protocol.probes import ProbeResult
from benchbook.evaluators.protocol.spec import protocol_v1
from benchbook.evaluators.protocol.validity import Options, parse_line
from benchbook.text import storable
from benchbook.views.protocol import archive as module
from benchbook.views.protocol.archive import read_archive
from benchbook.views.protocol.archive import write_archive as write_whole
from benchbook.views.protocol.archive_model import Archive, JudgeUsed, RunLog, UsedPrompt
from evaluators.protocol.drift_lab import drift_lab_rows
from evaluators.protocol.made_evaluations import DIMENSIONS, JUDGED, TEXT, made_row, reply_text
from support import examples


def write_archive(
    folder: Path,
    rows: Iterable[EvaluationRow],
    prompts: list[UsedPrompt],
    log: RunLog,
    probes: list[ProbeResult] | None = None,
    derivation: int = DERIVATION,
) -> Path:
    return write_whole(Archive(list(rows), prompts, log, protocol_v1(), probes or [], derivation), folder)


PROMPT = UsedPrompt("judge_protocol@v1", "You judge.\r\n```\n# Not a heading\n")
LOG = RunLog(
    experiment="drift # 1",
    spec="judge_protocol@v1",
    spec_sha256="ab" * 32,
    evidence="must_be_found",
    judges=[
        JudgeUsed(judge_model="j", version="2026", params={"temperature": 0, "top_p": 1}, tools=[], web_access=False)
    ],
    n_samples=3,
    started_utc="2026-03-14T10:00:00Z",
    ended_utc="2026-03-14T10:05:00Z",
)


def rows() -> list[EvaluationRow]:
    return [
        made_row(8, question="Q1", prompt_sha256=PROMPT.sha256),
        made_row(2, question="Q2", variant="B", judge="t"),
        made_row(5, question="../Q3", judge="a/b@1", repeat=1),
        made_row(8, question="Q1", variant="B", reply="I refuse.\r\n\x00\ud835", prompt_sha256="cd" * 32),
    ]


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_evaluation_lies_where_the_spec_says(tmp_path: Path) -> None:
    found = files(write_archive(tmp_path / "archive", rows(), [PROMPT], LOG))
    assert set(found) == {
        "valid_evaluations/README.md",
        "valid_evaluations/cross_judge/j/Q1__A__t__o.json",
        "valid_evaluations/self_judge/t/Q2__B__t__o.json",
        "valid_evaluations/cross_judge/a-b-1~0e2411d8f952/Q3~3c6e4ff287c4__A__t__o__repeat-2.json",
        "invalid_evaluations/README.md",
        "invalid_evaluations/cross_judge/j/Q1__B__t__o.json",
        "invalid_evaluations/cross_judge/j/Q1__B__t__o.reply.txt",
        f"used_prompts/{PROMPT.sha256}.txt",
        "used_prompt_manifest.md",
        "run_log.json",
        "results_analysis.md",
    }
    assert found["invalid_evaluations/cross_judge/j/Q1__B__t__o.reply.txt"] == b"I refuse.\r\n\x00\xed\xa0\xb5"
    assert hashlib.sha256(found[f"used_prompts/{PROMPT.sha256}.txt"]).hexdigest() == PROMPT.sha256


def test_a_file_has_the_shape_of_a_reply_and_what_was_found_out(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG)
    valid = json.loads((folder / "valid_evaluations/cross_judge/j/Q1__A__t__o.json").read_text("utf-8"))
    asked = {
        "question_id": "Q1", "prompt_variant": "A", "target_model": "t", "output_id": "o", "judge_model": "j",
        "method": "cross_judge",
    }  # fmt: skip
    assert (valid["asked"], valid["meta"]) == (asked | {"repeat": 0}, asked | {"timestamp": "2026-03-14"})
    assert valid["notes"] == ""
    assert valid["scores"]["overall_score"] == 8
    assert (valid["verdict"], valid["flags"], valid["valid"]) == ("PASS", [], True)
    assert valid["evidence"][1]["located"] == "normalised"
    assert json.loads(valid["raw_reply"])["verdict"] == "PASS"
    invalid = json.loads((folder / "invalid_evaluations/cross_judge/j/Q1__B__t__o.json").read_text("utf-8"))
    assert invalid["flags"] == ["JUDGE_REFUSAL_OR_EVASION", "UNPARSABLE_OUTPUT"]
    assert invalid["raw_reply"] is None
    assert invalid.keys().isdisjoint({"meta", "scores", "verdict", "notes"}), "the judge wrote none of it"
    assert [one["code"] for one in invalid["details"]] == ["not_strict_json", "no_scores"]


INCOMPLETE = {
    "no verdict and no sum": ({"verdict": None, "scores": dict.fromkeys(DIMENSIONS, 2)}, {"scores"}, ()),
    "a verdict of its own": ({"verdict": "GOOD"}, {"scores", "verdict"}, ("verdict",)),
    "a score of another type": ({"scores": dict.fromkeys(DIMENSIONS, 2.0) | {"overall_score": 8}}, {"scores"}, ()),
    "no scores": ({"scores": None}, set(), ()),
    "a score that no writer holds": ({"scores": dict.fromkeys(DIMENSIONS, 10**30)}, {"scores"}, ()),
}


@pytest.mark.parametrize(("other", "there", "as_written"), INCOMPLETE.values(), ids=INCOMPLETE)
def test_nothing_is_archived_that_the_judge_did_not_write(
    tmp_path: Path, other: dict[str, Any], there: set[str], as_written: tuple[str, ...]
) -> None:
    asked = made_row(8).asked
    wanted = json.loads(reply_text(asked.meta(), (2, 2, 2, 2))) | other
    said = {name: value for name, value in wanted.items() if value is not None}
    row = made_row(8, reply=json.dumps(said))
    folder = write_archive(tmp_path / "archive", [row], [PROMPT], LOG)
    (path,) = folder.glob("invalid_evaluations/*/*/*.json")
    archived = json.loads(path.read_text("utf-8"))
    assert {name for name in ("scores", "verdict") if name in archived} >= there - {"verdict"}
    assert ("verdict" in archived) is ("verdict" in said)
    assert all(archived[name] == said[name] for name in as_written)
    kept = archived.get("scores", {})
    assert all(said["scores"][name] == score and type(score) is int for name, score in kept.items())
    assert ("overall_score" in kept) is ("overall_score" in (said.get("scores") or {}))
    assert path.with_name(path.name.replace(".json", ".reply.txt")).read_text("utf-8") == json.dumps(said)
    assert read_archive(folder).rows == [row]


def read_again(file: Path, text: str, cells: list[dict[str, str]], **options: Any) -> dict[str, Any]:
    """An archived file as `benchbook parse` reads it, against the set and what was asked."""
    archived = json.loads(file.read_text("utf-8"))
    asked = {name: value for name, value in archived["asked"].items() if name != "repeat"}
    reply = file.read_bytes().decode("utf-8")
    case = {"reply": reply, "output_text": text, "asked": asked, "evaluation_set": cells, "options": options}
    return parse_line(case, protocol_v1())


total_scores = st.tuples(*[st.integers(0, 2)] * 4)
names = st.text("aÄ/ 名.", min_size=1, max_size=4).filter(str.strip)


@examples(40)
@given(
    st.lists(st.tuples(names, names, names, names, names, total_scores), max_size=4, unique_by=lambda one: one[:5]),
    st.text(max_size=20).filter(lambda notes: storable(notes) == notes),
    st.dictionaries(st.sampled_from(["valid", "asked", "details", "raw_reply", "more"]), st.integers(), max_size=3),
)
def test_every_valid_file_is_valid_when_it_is_read_again(
    drawn: list[tuple[str, str, str, str, str, tuple[int, ...]]], notes: str, more: dict[str, int]
) -> None:
    """P2: whatever the judge wrote besides, under names of ours too."""
    made = [
        made_row(scores, question=q, variant=v, target=t, output=o, judge=j, notes=notes, **more)
        for q, v, t, o, j, scores in drawn
    ]
    cells = [
        {name: getattr(row.cell, name) for name in ("question_id", "prompt_variant", "target_model", "output_id")}
        for row in made
    ]
    with TemporaryDirectory() as place:
        folder = write_archive(Path(place) / "archive", made, [PROMPT], LOG)
        files_read = [read_again(file, TEXT, cells) for file in folder.glob("valid_evaluations/*/*/*.json")]
        assert len(files_read) == len(made)
        assert all(one["valid"] for one in files_read), files_read
        assert sorted(one["verdict"] for one in files_read) == sorted(str(row.verdict) for row in made)
        assert read_archive(folder).rows == sorted_rows(made)


def test_a_name_of_a_model_stands_as_the_judge_wrote_it(tmp_path: Path) -> None:
    """What was asked and what the judge calls it are both there, and by the declared table it is valid again."""
    same = {"old": "t"}
    asked = asked_about(CellId("Q1", "A", "t", "o"), "j", SameModel(same))
    said = reply_text(asked.meta() | {"target_model": "old"}, (2, 2, 2, 2))
    row = evaluation_row(asked, said, JUDGED, options=Options(same_model=SameModel(same)))
    folder = write_archive(tmp_path / "archive", [row], [PROMPT], LOG)
    (file,) = folder.glob("valid_evaluations/*/*/*.json")
    archived = json.loads(file.read_text("utf-8"))
    assert (archived["asked"]["target_model"], archived["meta"]["target_model"]) == ("t", "old")
    cells = [asked.meta() | {"target_model": "t"}]
    assert read_again(file, TEXT, cells, same_model=same)["valid"]
    assert not read_again(file, TEXT, cells)["valid"]


def test_an_archive_of_an_older_record_keeps_its_form_and_its_derivation(tmp_path: Path) -> None:
    """Its analysis goes by the record's derivation, which its log does not name."""
    made = [made_row(7 + number % 2, question=f"Q{number}") for number in range(6)]
    old = write_archive(tmp_path / "old", made, [PROMPT], LOG, derivation=1)
    file = json.loads((old / "valid_evaluations/cross_judge/j/Q1__A__t__o.json").read_text("utf-8"))
    assert (file["meta"]["repeat"], "notes" in file) == (0, False)
    assert "derivation" not in json.loads((old / "run_log.json").read_text("utf-8"))["log"]
    by_1 = (old / "results_analysis.md").read_text("utf-8")
    by_2 = (write_archive(tmp_path / "2", made, [PROMPT], LOG, derivation=2) / "results_analysis.md").read_text("utf-8")
    assert ("| 7.500 (6.925 to 8.075) |" in by_1.replace("\\", ""), by_1 == by_2) == (True, False)  # by Student's t
    assert read_archive(old, 1).derivation == 1
    assert files(write_archive(tmp_path / "again", read_archive(old, 1).rows, [PROMPT], LOG, derivation=1)) == files(
        old
    )


def test_bytes_that_are_no_utf_8_lie_in_the_archive_as_they_came(tmp_path: Path) -> None:
    """Of a row out of the table, where the text has an escape for each of them."""
    data = b"\xed\xa0\x80 caf\xe9 {}"
    row = made_row(8, reply=storable(data.decode("utf-8", "surrogateescape")))
    values = {name: getattr(row, name) for name in row.__struct_fields__}
    odd = row_kind(ReadRow, protocol_v1())(read_as=None, reply_base64=base64.b64encode(data).decode("ascii"), **values)
    folder = write_archive(tmp_path / "archive", [odd], [PROMPT], LOG)
    assert (folder / "invalid_evaluations/cross_judge/j/Q1__A__t__o.reply.txt").read_bytes() == data
    assert read_archive(folder).rows == [odd]


def test_files_that_a_power_cut_left_empty_are_written_anew(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG)
    whole = files(folder)
    for name in whole:
        if "/cross_judge/" in name or name.startswith("used_prompts/"):
            (folder / name).write_bytes(b"")
    assert files(write_archive(folder, rows(), [PROMPT], LOG)) == whole


def test_the_readmes_state_the_rules(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG)
    valid = (folder / "valid_evaluations/README.md").read_text("utf-8")
    invalid = (folder / "invalid_evaluations/README.md").read_text("utf-8")
    assert "The verdict is `FAIL` up to 3, `PASS` from 7 on" in valid
    assert "a quote of at most 60 words, or 120 characters of text without spaces" in valid
    assert "`timestamp_no_date`" in invalid
    assert "Every quote stands in the judged text" in valid
    assert "Invalid is not low quality" in invalid
    assert (
        "- `INTERNAL_INCONSISTENCY`: its parts contradict each other, or what was asked. Codes: `sum_wrong`" in invalid
    )
    report = write_archive(tmp_path / "report", [], [], msgspec.structs.replace(LOG, evidence="report"))
    assert "is counted, and invalidates nothing" in (report / "valid_evaluations/README.md").read_text("utf-8")


def test_the_manifest_lists_every_prompt_with_hash_and_use(tmp_path: Path) -> None:
    unused = UsedPrompt("other", "x")
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT, unused], LOG)
    manifest = (folder / "used_prompt_manifest.md").read_text("utf-8")
    assert (
        f"- SHA-256: `{PROMPT.sha256}`\n- File: `used_prompts/{PROMPT.sha256}.txt`\n- `cross_judge` by j: 1 eval"
        in manifest
    )
    assert "````text\nYou judge.\\u000d\n```\n# Not a heading\n\n````\n" in manifest
    assert "- Used by no evaluation of this archive\n" in manifest
    assert f"## Not kept\n\n- SHA-256: `{'cd' * 32}`\n- `cross_judge` by j: 1 evaluation\n" in manifest
    assert "## Not known" in manifest


def test_the_run_log_and_the_analysis(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG)
    log = json.loads((folder / "run_log.json").read_text("utf-8"))
    assert log["log"]["judges"][0]["params"] == {"temperature": 0, "top_p": 1}
    assert (log["log"]["n_samples"], log["log"]["started_utc"]) == (3, "2026-03-14T10:00:00Z")
    analysis = (folder / "results_analysis.md").read_text("utf-8")
    assert analysis.startswith("# Results: drift \\# 1\n")
    assert "- 3 samples, 4 evaluations\n- Began: 2026-03-14T10:00:00Z; ended: 2026-03-14T10:05:00Z\n" in analysis
    assert "- Judge j: version 2026; temperature 0, top\\_p 1; tools: none; web access: no\n" in analysis
    assert "| cross\\_judge | 3 | 2 | 1 |\n| self\\_judge | 1 | 1 | 0 |\n" in analysis
    assert (
        "| t | A | 6.500 \\(too few: 2 of 5 outputs\\) | 1 \\(50.0 %\\) | 1 \\(50.0 %\\) | 0 | 100.0 % \\(n = 2\\) |"
        in analysis
    )
    assert "too few evaluations to say" in analysis


def test_writing_it_again_gives_the_same_bytes_and_reading_it_the_same_rows(tmp_path: Path) -> None:
    first = write_archive(tmp_path / "one", rows(), [PROMPT], LOG)
    read = read_archive(first)
    assert read.rows == sorted_rows(rows())
    assert (read.prompts, read.run_log) == ([PROMPT], msgspec.structs.replace(LOG, derivation=DERIVATION))
    again = write_archive(tmp_path / "two", reversed(rows()), read.prompts, read.run_log)
    assert files(again) == files(first)
    write_archive(first, read.rows, read.prompts, read.run_log)  # in its own place
    assert files(again) == files(first)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_probes_are_part_of_it(tmp_path: Path) -> None:
    probe = ProbeResult(
        judge_model="j", probe="empty", question_id="Q1", prompt_variant="A", target_model="t", output_id="o",
        passed=False, expected="FAIL", found="PASS 8", text_sha256="ef" * 32, raw_reply="{}\ud835",
    )  # fmt: skip
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG, [probe])
    assert read_archive(folder).probes == [probe]
    assert "| j | empty | Q1 / A / t / o | failed | FAIL | PASS 8 |" in (folder / "results_analysis.md").read_text(
        "utf-8"
    )


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(UsageError, match=r"holds 'thesis\.txt', which is no part of an archive"):
        write_archive(tmp_path / "mine", rows(), [PROMPT], LOG)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    with pytest.raises(UsageError, match="no folder"):
        write_archive(tmp_path / "link", rows(), [PROMPT], LOG)
    assert files(tmp_path / "mine") == {"thesis.txt": b"years of work"}


def test_evaluations_that_were_filed_by_hand_are_left_alone(tmp_path: Path) -> None:
    """Source 002 names the folders: whoever follows it by hand has them too."""
    (tmp_path / "mine/valid_evaluations").mkdir(parents=True)
    (tmp_path / "mine/valid_evaluations/q1.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"holds 'valid_evaluations' and no run_log\.json"):
        write_archive(tmp_path / "mine", rows(), [PROMPT], LOG)
    assert files(tmp_path / "mine") == {"valid_evaluations/q1.json": b"{}"}


STRANGERS = [
    "notes.txt",
    "valid_evaluations/notes.txt",
    "valid_evaluations/cross_judge/notes.json",
    "valid_evaluations/cross_judge/j/notes.json",  # where an evaluation could be, but it is none
    "valid_evaluations/cross_judge/j/notes.reply.txt",
    "valid_evaluations/cross_judge/j/more/notes.json",
    "valid_evaluations/cross_judge/README.md",
    "invalid_evaluations/cross_judge/j/Q1__B__t__o.md",
    "used_prompts/mine.txt",
    "used_prompts/more/notes.txt",
]


@pytest.mark.parametrize("path", STRANGERS)
def test_what_somebody_laid_into_an_archive_is_not_lost(tmp_path: Path, path: str) -> None:
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG)
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text('{"mine": 1}', encoding="utf-8")
    before = files(folder)
    named = path.rpartition("/")[0] if "used_prompts/more" in path else path
    with pytest.raises(UsageError, match=f"holds '{re.escape(named)}', which is no part of an archive; move it away"):
        write_archive(folder, rows()[:1], [PROMPT], LOG)
    assert files(folder) == before


@pytest.mark.parametrize("path", ["valid_evaluations/cross_judge/j/Q9__A__t__o.json", "used_prompts", "run_log.json"])
def test_a_link_in_an_archive_is_not_lost(tmp_path: Path, path: str) -> None:
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG)
    if (folder / path).exists():
        (folder / path).rename(tmp_path / "elsewhere")
    (folder / path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=f"holds '{re.escape(path)}', which is no part of an archive"):
        write_archive(folder, rows(), [PROMPT], LOG)
    assert (folder / path).is_symlink()


def test_an_archive_of_other_evaluations_is_replaced_whole(tmp_path: Path) -> None:
    """Also one in which a README was changed, and one with empty folders: there is nothing of anybody's to lose."""
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT, UsedPrompt("other", "x")], LOG)
    (folder / "valid_evaluations/README.md").write_text("changed", encoding="utf-8")
    (folder / "valid_evaluations/empty").mkdir()
    wanted = files(write_archive(tmp_path / "new", rows()[1:2], [PROMPT], LOG))
    assert files(write_archive(folder, rows()[1:2], [PROMPT], LOG)) == wanted


def test_what_fails_on_the_way_leaves_the_old_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG)
    before = files(folder)

    def breaks(_: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "results_analysis", breaks)
    with pytest.raises(RecordError, match=r"archive: can't be written \(No space left on device\)"):
        write_archive(folder, [], [PROMPT], LOG)
    assert files(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["archive"]


def test_two_evaluations_of_one_output_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two evaluations"):
        write_archive(tmp_path / "archive", [made_row(8), made_row(7)], [], LOG)
    assert list(tmp_path.iterdir()) == []


CHANGES = {
    "a reply": ("invalid_evaluations/cross_judge/j/Q1__B__t__o.reply.txt", b"I agree.", "the raw reply is not the one"),
    "half a character": ("invalid_evaluations/cross_judge/j/Q1__B__t__o.reply.txt", b"\xff", "no UTF-8 at byte 1"),
    "no json": ("valid_evaluations/cross_judge/j/Q1__A__t__o.json", b"{", "Q1__A__t__o.json: "),
    "a prompt": (f"used_prompts/{PROMPT.sha256}.txt", b"You agree.", "expected the one in its name"),
    "the log": ("run_log.json", b"[]", "run_log.json: "),
    "a stranger": ("valid_evaluations/cross_judge/j/notes.json", b"{}", "notes.json: "),
    "a reply alone": ("invalid_evaluations/cross_judge/j/x.reply.txt", b"{}", "a raw reply without its evaluation"),
    "two replies": ("valid_evaluations/cross_judge/j/Q1__A__t__o.reply.txt", b"{}", "two raw replies"),
}


@pytest.mark.parametrize(("path", "data", "message"), CHANGES.values(), ids=CHANGES)
def test_what_was_changed_is_named(tmp_path: Path, path: str, data: bytes, message: str) -> None:
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG)
    (folder / path).write_bytes(data)
    with pytest.raises(RecordError, match=message):
        read_archive(folder)


def test_what_was_moved_or_taken_away_is_named(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", rows(), [PROMPT], LOG)
    other = shutil.copytree(folder, tmp_path / "other")
    (folder / "invalid_evaluations/cross_judge/j/Q1__B__t__o.reply.txt").unlink()
    with pytest.raises(RecordError, match="no raw reply"):
        read_archive(folder)
    here = other / "valid_evaluations/cross_judge/j/Q1__A__t__o.json"
    here.rename(here.with_name("Q9__A__t__o.json"))
    with pytest.raises(
        RecordError, match=r"Q9__A__t__o\.json: holds the evaluation that belongs at valid_evaluations/cross"
    ):
        read_archive(other)
    with pytest.raises(RecordError, match=r"run_log\.json: can't be read \(No such file"):
        read_archive(tmp_path)


HOSTILE = [
    "../../x",
    "/etc",
    "a\0b",
    "CON",
    "x" * 300,
    "Q1",
    "q1",
    "é",
    "e\u0301",
    "",
    "a__b",
    "\u202e",
    "a|b`\n#",
    "a\ud835",
]
ids = st.sampled_from(HOSTILE)
replies = st.none() | st.text(max_size=40) | st.sampled_from(["\ud835", "{}", "a\r\nb"])
keys = st.lists(st.tuples(ids, ids, ids, ids, ids, st.integers(0, 2)), unique=True, max_size=5)


@examples(40)
@given(keys.flatmap(lambda some: st.tuples(st.just(some), st.tuples(*(replies for _ in some)))), st.integers(0, 8))
def test_an_archive_read_and_written_again_is_the_same(
    drawn: tuple[Sequence[tuple[str, str, str, str, str, int]], Sequence[str | None]], total: int
) -> None:
    made = [
        made_row(total, question=q, variant=v, target=t, output=o, judge=j, repeat=repeat, reply=reply)
        for (q, v, t, o, j, repeat), reply in zip(*drawn, strict=True)
    ]
    with TemporaryDirectory() as place:
        first = write_archive(Path(place) / "one", made, [PROMPT], LOG)
        read = read_archive(first)
        assert read.rows == sorted_rows(made)
        second = write_archive(Path(place) / "two", read.rows, read.prompts, read.run_log, read.probes)
        assert files(second) == files(first)
        n_invalid = sum(not row.valid for row in made)
        n_files = sum(path.is_file() for path in first.glob("*_evaluations/*/*/*"))
        assert n_files == len(made) + n_invalid
        assert {path.name for path in Path(place).iterdir()} == {"one", "two"}


def test_real_judgements_archived(tmp_path: Path) -> None:
    made, _ = drift_lab_rows(Options(evidence="report"))
    folder = write_archive(tmp_path / "archive", made, [], LOG)
    assert read_archive(folder).rows == sorted_rows(made)
    invalid = sum(not row.valid for row in made)
    assert len(list(folder.glob("valid_evaluations/*/*/*.json"))) == len(made) - invalid
    assert len(list(folder.glob("invalid_evaluations/*/*/*.reply.txt"))) == invalid
    analysis = (folder / "results_analysis.md").read_text("utf-8")
    assert "| anthropic\\_claude-sonnet-4.5\\_extended-thinking | cross\\_judge | 2 | 4 | 7 | 51 | 0 | 0 |" in analysis


def test_a_text_of_half_characters_is_judged_and_archived(tmp_path: Path) -> None:
    row = made_row(8, text=JudgedText("\ud835 # Plan"), quotes=("# Plan", "\ud835", "# Plan", "# Plan"))
    folder = write_archive(tmp_path / "archive", [row], [], LOG)
    assert read_archive(folder).rows == [row]
