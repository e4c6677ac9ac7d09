"""Every view of the golden records as text: what commands print and write, and what the server answers.

All of it is asked for as users ask, by commands and addresses, so that the code behind may move.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from running import benchbook_here
from server.making import Api, api_over

TESTS = Path(__file__).parent.parent
OF_DERIVATION_2 = TESTS / "evaluators" / "records_of_derivation_2"
OWN = TESTS / "golden" / "records"
BOOK = "labels"  # what people said of rubric_labelled; no run itself

Views = dict[str, bytes]
# `gate` at another confidence derives another manifest, which is nowhere on disk.
_OF_A_GATE = re.compile(rb'("manifest_sha256": ")[0-9a-f]{64}')


def _folders() -> dict[str, Path]:
    found = {path.name: path for path in OF_DERIVATION_2.iterdir() if path.suffix != ".archive"}
    found |= {path.name: path for path in OWN.iterdir() if path.name != BOOK}
    found["b"] = TESTS / "evaluators" / "rubric" / "record_of_before"  # the name that its journal has
    return dict(sorted(found.items()))


FOLDERS: Mapping[str, Path] = _folders()
PROTOCOL = tuple(name for name in FOLDERS if name.startswith("judge"))
# What is compared, the baseline first.
COMPARED: Mapping[str, tuple[str, ...]] = {
    "rubric": ("rubric_faults", "rubric_faults_later"),
    "rubric_of_before": ("rubric", "rubric_faults"),  # over other items
    "rubric_weather": ("rubric_weather_1", "rubric_weather_2", "rubric_weather_3", "rubric_against"),
    "rubric_judges": ("rubric_repeats", "rubric_panel"),
    "score": ("score_a", "score_b"),
    "score_history": ("score_a", "score_b", "score_c"),
}


class Bench:
    """A folder with copies of the records, derived anew, and commands that are called within it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for age, (name, source) in enumerate({**FOLDERS, BOOK: OWN / BOOK}.items()):
            for part in ("journal", "inputs"):
                shutil.copytree(source / part, folder / "runs" / name / part)
            # Lists stand by when a journal was written, and a checkout writes them in any order.
            os.utime(folder / "runs" / name / "journal", (1_700_000_000 + age,) * 2)
        shutil.copy(TESTS / "golden" / "pairs.jsonl", folder)
        # What a rescore prints, by record.
        self.derived = {name: self.said("rescore", name, "--reports", "reports") for name in FOLDERS}

    def said(self, *words: str) -> bytes:
        """What a command prints, and how it ends."""
        found = benchbook_here(*words, cwd=self.folder)
        return b"%s--- standard error\n%s--- exit %d\n" % (found.stdout, found.stderr, found.returncode)

    def samples(self, name: str) -> list[int]:
        """The samples that a record's table has."""
        table = self.folder / "runs" / name / "samples.parquet"
        return pl.read_parquet(table)["sample"].to_list() if table.exists() else []

    def files(self, below: str) -> Views:
        """The files of a folder, by their names below it."""
        found = {}
        for path in sorted((self.folder / below).rglob("*")):
            if path.is_file():
                name = path.relative_to(self.folder / below).as_posix()
                found[name] = table_text(path) if path.suffix == ".parquet" else path.read_bytes()
        return found

    @functools.cached_property
    def not_the_code(self) -> list[tuple[bytes, bytes]]:
        """What stands in views and is of this folder, or of the version of who writes Parquet; and what stands for it.

        A table is held against its rows. Its file's hash stands in the manifest, whose own hash covers that.
        """
        found = {str(self.folder): "."}
        for name in FOLDERS:
            record = self.folder / "runs" / name
            manifest = json.loads((record / "manifest.json").read_bytes())
            found |= {_sha256(path): f"<hash of {path.name}>" for path in sorted(record.glob("*.parquet"))}
            found |= {
                _sha256(record / "manifest.json"): "<hash of manifest.json>",
                str(manifest.get("manifest_sha256", "<none>")): "<manifest_sha256>",
                str(manifest.get("derived_by", {}).get("tables", "<none>")): "<who writes tables>",
            }
        return [(text.encode(), stands_for.encode()) for text, stands_for in found.items()]

    def normal(self, views: Views) -> Views:
        """The views without what no code of ours decides."""
        return {name: self._normal(view) for name, view in views.items()}

    def _normal(self, view: bytes) -> bytes:
        for text, stands_for in self.not_the_code:
            view = view.replace(text, stands_for)
        return _OF_A_GATE.sub(rb"\1<manifest_sha256>", view)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def table_text(path: Path) -> bytes:
    """A Parquet file by what it holds: its columns with their types, then a row a line."""
    table = pl.read_parquet(path)
    lines = [json.dumps([[name, str(of)] for name, of in table.schema.items()])]
    lines += [json.dumps(row, sort_keys=True, ensure_ascii=True, default=str) for row in table.to_dicts()]
    return ("\n".join(lines) + "\n").encode()


# ── one record ───────────────────────────────────────────────────────────────────────────────────────────────


def views_of_record(bench: Bench, name: str) -> Views:
    """Its derived files, its reports, and what each command says of it."""
    said = bench.said
    views = {"rescore.txt": bench.derived[name]}
    views |= {f"record/{file}": text for file, text in bench.files(f"runs/{name}").items()
              if not file.startswith(("journal/", "inputs/"))}  # fmt: skip
    views |= {f"reports/{file}": text for file, text in bench.files(f"reports/{name}").items()}
    for view, words in _SHOWN.items():
        views[f"{view}.txt"] = said(words[0], name, *words[1:])
        views[f"{view}.json"] = said(words[0], name, *words[1:], "--json")
    views["gate_by_rule.txt"] = said("gate", name, "--by-rule")
    views["gate_confidence_none.json"] = said("gate", name, "--confidence", "none", "--json")
    views["gate_min_score.json"] = said("gate", name, "--min-score", "0.6", "--json")
    if samples := bench.samples(name):
        views["show_first.txt"] = said("show", name, "--sample", str(samples[0]))
        views["show_last.json"] = said("show", name, "--sample", str(samples[-1]), "--json")
    if name in PROTOCOL:
        archive = f"archives/{name}"
        views["archive.txt"] = said("judge", "archive", name, "--out", archive)
        views |= {f"archive/{file}": text for file, text in bench.files(archive).items()}
        views["archive_checked.txt"] = said("judge", "archive", name, "--check", archive, "--json")
    return bench.normal(views | _views_of_changed(bench, name))


def _views_of_changed(bench: Bench, name: str) -> Views:
    """What `verify` finds in copies of which a derived number, a fact's text or a file is not what it was."""
    views = {}
    for what, (file, old, new) in _CHANGES.items():
        copy = Path("changed") / what / name
        shutil.copytree(bench.folder / "runs" / name, bench.folder / copy)
        path = bench.folder / copy / file
        path.write_bytes(path.read_bytes().replace(old, new))
        views[f"verify_changed_{what}.txt"] = bench.said("verify", copy.as_posix())
    return views


_CHANGES: Mapping[str, tuple[str, bytes, bytes]] = {
    "number": ("aggregates.json", b": 1", b": 7"),
    "fact": ("journal/000001.jsonl", b'"text":"', b'"text":"Not '),
    "manifest": ("manifest.json", b"complete", b"running"),
}


_SHOWN: Mapping[str, tuple[str, ...]] = {
    "show": ("show",),
    "show_failed": ("show", "--failed"),
    "verify": ("verify",),
    "panel": ("panel",),
    "gate": ("gate",),
}


# ── several records ──────────────────────────────────────────────────────────────────────────────────────────


def views_of_compared(bench: Bench, pair: str) -> Views:
    """A comparison in all its forms; of two, the gate that holds the second against the first."""
    names, said, out = COMPARED[pair], bench.said, f"compared/{pair}"
    (bench.folder / out).mkdir(parents=True)
    views = {
        "compare.txt": said("compare", *names, "--margin", "0.1", "--html", f"{out}/page.html"),
        "compare.json": said("compare", *names, "--json", "--parquet", f"{out}/items.parquet"),
        "compare.md": said("compare", *names, "--markdown", "--confidence", "0.9"),
        "leaderboard.txt": said("leaderboard", *names),
        "leaderboard.json": said("leaderboard", *names, "--json"),
    }
    if len(names) == 2:
        against = ("gate", names[1], "--baseline", names[0])
        views["gate.txt"] = said(*against, "--junit", f"{out}/junit.xml", "--allow-different", "evalset")
        views["gate.json"] = said(*against, "--json")
        views["gate_regressions.txt"] = said(*against, "--max-regressions", "0", "--min-score", "0.2")
    views |= {f"files/{file}": text for file, text in bench.files(out).items()}
    return bench.normal(views)


def views_of_labels(bench: Bench) -> Views:
    """The judge's card, and what people's labels say of themselves."""
    calibrate = ("calibrate", "rubric_labelled", "--labels", f"runs/{BOOK}")
    views = {
        "calibrate.txt": bench.said(*calibrate, "--html", "card.html"),
        "calibrate.json": bench.said(*calibrate, "--json"),
        "calibrate.md": bench.said(*calibrate, "--markdown"),
        "status.txt": bench.said("label", "status", f"runs/{BOOK}"),
        "status.json": bench.said("label", "status", f"runs/{BOOK}", "--json"),
        "sheet.csv": bench.said("label", "export", f"runs/{BOOK}"),
        "sheet_of_ann.csv": bench.said("label", "export", f"runs/{BOOK}", "--labeller", "ann"),
        "disputed.csv": bench.said("label", "export", f"runs/{BOOK}", "--disputed"),
    }
    return bench.normal(views | {"card.html": (bench.folder / "card.html").read_bytes()})


def views_of_all(bench: Bench) -> Views:
    """What is said of the whole folder, and of verdicts on pairs."""
    views = {}
    for view, words in {"runs": ("runs",), "position": ("position", "pairs.jsonl"),
                        "position_by": ("position", "pairs.jsonl", "--by", "section"),
                        "experiment": ("experiment", "weather"), "plan_ready": ("plan", "--ready"),
                        "plan": ("plan", "--baseline", "0.7", "--detect", "0.05", "--clusters", "4", "--icc", "0.2"),
                        "baseline_set": ("baseline", "set", "rubric_faults"), "baseline": ("baseline", "show"),
                        "gate": ("gate", "rubric_faults_later", "--margin", "0.2"),
                        "baseline_cleared": ("baseline", "clear")}.items():  # fmt: skip
        views[f"{view}.txt"] = bench.said(*words)
        views[f"{view}.json"] = bench.said(*words, "--json")
    return bench.normal(views)


# ── the server ───────────────────────────────────────────────────────────────────────────────────────────────

_RUN = "/api/v1/runs/{}"
_OF_A_RUN: Mapping[str, str] = {
    "run": _RUN, "manifest": f"{_RUN}/manifest", "aggregates": f"{_RUN}/aggregates", "decision": f"{_RUN}/decision",
    "panel": f"{_RUN}/panel", "samples": f"{_RUN}/samples?limit=1000",
    "samples_failed": f"{_RUN}/samples?outcome=failed", "samples_lines": f"{_RUN}/samples.ndjson",
    "predictions": "/api/tunix/runs/{}/predictions", "predictions_lines": f"{_RUN}/predictions.ndjson",
    "training": f"{_RUN}/training-metrics", "loss": f"{_RUN}/metrics/loss",
}  # fmt: skip
_OF_JUDGES: Mapping[str, str] = {
    "judges": "/api/v1/judges/{}", "evaluations": "/api/v1/evaluations?run={}&limit=1000",
}  # fmt: skip
_OF_TWO: Mapping[str, str] = {
    "pair": "?", "items": "/items?", "items_by_change": "/items?sort=change&order=desc&", "item_0": "/items/0?",
    "items_lines": "/items.ndjson?", "items_csv": "/items.csv?",
}  # fmt: skip
_OF_MANY: Mapping[str, str] = {"history": "/history?", "history_summary": "/history/summary?"}
_OF_ANY: Mapping[str, str] = {"set": "/set?", "page": "/report.html?"}
_OF_ALL: Mapping[str, str] = {
    "runs": "/api/v1/runs?limit=100", "runs_by_score": "/api/v1/runs?sort=score&order=desc&limit=100",
    "evalsets": "/api/v1/evalsets", "experiments": "/api/v1/judges", "books": "/api/v1/labels",
    "leaderboard_of_several": "/api/v1/leaderboards?dataset=items", "book": f"/api/v1/labels/{BOOK}",
    "disputes": f"/api/v1/labels/{BOOK}/disputes", "calibration": f"/api/v1/labels/{BOOK}/calibration",
}  # fmt: skip


class Server:
    """The application over the bench's records, asked without a socket."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.api: Api = api_over(bench.folder / "runs", str(bench.folder / "catalog.sqlite"))

    def answers(self, addresses: Mapping[str, str]) -> Views:
        return self.bench.normal({f"server/{view}": self.answer(address) for view, address in addresses.items()})

    def answer(self, address: str) -> bytes:
        found = self.api.get(address)
        return b"%d %s\n%s\n" % (found.status_code, found.headers["content-type"].encode(), found.content)

    def of_record(self, name: str) -> Views:
        addresses = {**_OF_A_RUN, **(_OF_JUDGES if name in PROTOCOL else {})}
        views = self.answers({view: address.format(name) for view, address in addresses.items()})
        one = "/api/v1/evaluations/{}?run={}" if name in PROTOCOL else "/api/v1/runs/{1}/samples/{0}"
        each = b"".join(self.answer(one.format(sample, name)) for sample in self.bench.samples(name))
        return views | self.bench.normal({"server/each_sample": each})

    def of_compared(self, pair: str) -> Views:
        runs = "&".join(f"run={name}" for name in COMPARED[pair])
        asked = {**_OF_ANY, **(_OF_TWO if len(COMPARED[pair]) == 2 else _OF_MANY)}
        views = self.answers({view: f"/api/v1/comparisons{address}{runs}" for view, address in asked.items()})
        sets = {run["dataset_sha256"]: run["spec"] for name in COMPARED[pair]
                for run in [self.api.json(f"/api/v1/runs/{name}")]}  # fmt: skip
        ranked = [self.answer(f"/api/v1/leaderboards?dataset={sha256}&spec={spec}") for sha256, spec in sets.items()]
        return views | self.bench.normal({"server/leaderboard": b"".join(ranked)})

    def of_all(self) -> Views:
        return self.answers(_OF_ALL)


# ── all of it ────────────────────────────────────────────────────────────────────────────────────────────────


def _of_record(name: str) -> Callable[[Server], Views]:
    return lambda server: views_of_record(server.bench, name) | server.of_record(name)


def _of_compared(pair: str) -> Callable[[Server], Views]:
    return lambda server: views_of_compared(server.bench, pair) | server.of_compared(pair)


ALL: Mapping[str, Callable[[Server], Views]] = {
    **{name: _of_record(name) for name in FOLDERS},
    **{f"compared_{pair}": _of_compared(pair) for pair in COMPARED},
    BOOK: lambda server: views_of_labels(server.bench),
    "all": lambda server: views_of_all(server.bench) | server.of_all(),
}
"""By name: how the views are made of a record, of records that are compared, of labels, and of the whole folder."""


@contextmanager
def served(folder: Path) -> Iterator[Server]:
    """The records in a folder of their own, and the server over them; whatever the locale and the terminal are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONIOENCODING", "utf-8")
        patch.setenv("COLUMNS", "120")
        server = Server(Bench(folder))
        try:
            yield server
        finally:
            server.api.app.stop()
