"""Ways in which a record becomes another than the one that was written: a table of (name, function(record's folder)).

`MUTATIONS` are all to be found by `verify`. Those of the facts write the whole chain anew and derive everything from
it, so that nothing but the fact itself is at fault; `BY_HASH_ALONE` make a record that agrees with itself, which only a
published hash shows. A function raises `NotHereError` where a record has nothing of the kind.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from benchbook.canonical import canonical_json
from benchbook.evaluators.registry import evaluator_named, evaluator_of
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.record.packing import zstd

Fact = dict[str, Any]
Facts = list[Fact]
Mutation = tuple[str, Callable[[Path], None]]
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 4790\n"
WRONG = "0" * 64


class NotHereError(Exception):
    """The record has nothing that this could change."""


# ── the journal, written anew ────────────────────────────────────────────────────────────────────────────────


def segments_of(record: Path) -> list[Path]:
    return sorted((record / "journal").glob("0*.jsonl*"))


def facts_of(record: Path) -> Facts:
    """The facts without their seals, as plain JSON."""
    found: Facts = []
    for path in segments_of(record):
        data = path.read_bytes()
        data = zstd.decompress(data) if path.suffix == ".zst" else data
        found += [json.loads(line) for line in data.splitlines()]
    return [one for one in found if one["kind"] != "sealed"]


def rewrite(
    record: Path,
    change: Callable[[Facts], Any] = lambda facts: None,
    line: Callable[[Fact, bytes], bytes] | None = None,
) -> None:
    """Change the facts, compute every hash again, and derive everything that can still be derived.

    `line` gives other bytes to a fact's line.
    """
    facts = facts_of(record)
    change(facts)
    for path in segments_of(record):
        path.unlink()
    prev, lines = WRONG, list[bytes]()
    for seq, fact in enumerate(facts):
        fact |= {"seq": fact.pop("SEQ", seq), "prev": fact.pop("PREV", prev)}
        raw = canonical_json(fact)
        raw = raw if line is None else line(fact, raw)
        lines.append(raw + b"\n")
        prev = hashlib.sha256(raw).hexdigest()
    (record / "journal" / "000001.jsonl").write_bytes(b"".join(lines))
    with suppress(Exception):  # what can't be derived is found all the same
        evaluator_of(Record(record)).derive(Record(record), record)


def _of(facts: Facts, kind: str, role: str | None = None, has: str | None = None, last: bool = False) -> Fact:
    found = [
        one
        for one in facts
        if one["kind"] == kind and (role is None or one.get("role") == role) and (has is None or has in one)
    ]
    if not found:
        raise NotHereError(f"no {role or ''} {kind} with {has}")
    return found[-1 if last else 0]


def put(kind: str, role: str | None = None, has: str | None = None, **values: Any) -> Callable[[Path], None]:
    """Give fields of the first such fact other values; None takes one away."""

    def change(facts: Facts) -> None:
        fact = _of(facts, kind, role, has)
        fact.update(values)
        for name in [name for name, value in values.items() if value is None]:
            del fact[name]

    return lambda record: rewrite(record, change)


def in_start(name: str, change: Callable[[Any], Any]) -> Callable[[Path], None]:
    def done(facts: Facts) -> None:
        facts[0][name] = change(facts[0][name])

    return lambda record: rewrite(record, done)


def as_bytes(kind: str, old: bytes, new: bytes) -> Callable[[Path], None]:
    """Write the first such line that has `old` with `new` in its place: the same fact, or none of ours."""

    def done(record: Path) -> None:
        left = 1

        def line(fact: Fact, raw: bytes) -> bytes:
            nonlocal left
            if left and fact["kind"] == kind and old in raw:
                left = 0
                return raw.replace(old, new, 1)
            return raw

        if not any(fact["kind"] == kind and old in canonical_json(fact | {"prev": WRONG}) for fact in facts_of(record)):
            raise NotHereError(f"no {kind} with {old!r}")
        rewrite(record, line=line)

    return done


def arrange(change: Callable[[Facts], Any]) -> Callable[[Path], None]:
    return lambda record: rewrite(record, change)


def add(place: int, kind: str, **values: Any) -> Callable[[Path], None]:
    """Add a fact in that place among the others; at -1 at the end."""

    def change(facts: Facts) -> None:
        facts.insert(place if place >= 0 else len(facts), {"at": facts[-1]["at"], "kind": kind} | values)

    return arrange(change)


def _unsorted(fact: Fact, raw: bytes) -> bytes:
    return json.dumps(dict(reversed(json.loads(raw).items())), separators=(",", ":"), ensure_ascii=False).encode()


def _reordered(record: Path) -> None:
    rewrite(record, line=lambda fact, raw: _unsorted(fact, raw) if fact["kind"] in ("reply", "outcomes") else raw)


def _again(facts: Facts) -> None:
    fact = _of(facts, "reply", last=True)
    facts.insert(facts.index(fact) + 1, dict(fact))


def _after_end(facts: Facts) -> None:
    facts.append(dict(_of(facts, "reply")))


def _answer_after_answer(facts: Facts) -> None:
    """The model's answer twice, and another the second time."""
    first = _of(facts, "reply", "candidate")
    facts.insert(len(facts) - 1, first | {"text": "Another."})


def _gap_in_attempts(facts: Facts) -> None:
    _of(facts, "reply", "judge")["attempt"] = 2


def _ended_before(facts: Facts) -> None:
    facts.insert(1, {"kind": "run_ended", "at": facts[0]["at"]})


def _ended_twice(facts: Facts) -> None:
    facts.append(dict(_of(facts, "run_ended")))


def _reply_after_interrupted(facts: Facts) -> None:
    facts.insert(2, {"kind": "interrupted", "at": facts[0]["at"], "reason": "so it was"})


def _panel_seat(facts: Facts) -> None:
    _of(facts, "reply", "judge")["judge"] = 7


def _nested(facts: Facts) -> None:
    _of(facts, "outcomes")["outcomes"][0]["more"] = 1


_FACTS: list[Mutation] = [
    ("another-id", put("run_started", run_id="another")),
    ("another-id-that-is-no-name", put("run_started", run_id="../other")),
    ("more-items", in_start("n_items", lambda n: n + 1)),
    ("fewer-items", in_start("n_items", lambda n: n - 1)),
    ("more-repeats", in_start("repeats", lambda n: n + 1)),
    ("another-plan-hash", put("run_started", plan_sha256=WRONG)),
    ("another-spec-hash", put("run_started", spec_sha256=WRONG)),
    ("another-spec", put("run_started", spec="rubric@v9")),
    ("another-plan", in_start("identity", lambda one: one | {"plan": one["plan"] | {"spec": "rubric@v2"}})),
    ("a-plan-of-another-spec", arrange(lambda facts: _replanned(facts, spec="rubric@v9"))),
    ("a-plan-of-another-specs-hash", arrange(lambda facts: _replanned(facts, spec_sha256=WRONG))),
    ("another-template-in-the-plan", arrange(lambda facts: _other_template(facts))),
    ("a-sample-left-out", arrange(lambda facts: _left_out(facts))),
    ("another-set-in-the-plan", arrange(lambda facts: _planned(facts, WRONG))),
    ("inputs-left-out", in_start("inputs", lambda one: {})),
    ("an-inputs-hash", in_start("inputs", lambda one: one | {min(one): WRONG})),
    ("an-inputs-hash-that-is-a-path", in_start("inputs", lambda one: one | {min(one): "../journal/000001.jsonl"})),
    ("unknown-field-at-the-start", put("run_started", decision="READY")),
    ("unknown-field-of-a-reply", put("reply", score=1)),
    ("unknown-field-of-the-end", put("run_ended", by="me")),
    ("unknown-field-of-an-outcome", arrange(_nested)),
    ("negative-latency", put("reply", has="latency_e2e_ms", latency_e2e_ms=-5)),
    ("latency-as-a-float", put("reply", has="latency_e2e_ms", latency_e2e_ms=1.5)),
    ("latency-as-text", put("reply", has="latency_e2e_ms", latency_e2e_ms="7")),
    ("negative-tokens", put("reply", has="output_tokens", output_tokens=-1)),
    ("negative-queue", put("reply", queue_ms=-1)),
    ("negative-retry", put("reply", retry_ms=-1)),
    ("negative-latency-of-a-failure", put("failure", latency_ms=-1)),
    ("a-status-that-is-none", put("failure", status=-7)),
    ("a-cause-that-is-none", put("failure", cause="bad luck")),
    ("attempt-0", put("reply", attempt=0)),
    ("attempt-9", put("reply", attempt=9)),
    ("a-second-attempt-without-a-first", arrange(_gap_in_attempts)),
    ("a-judge-that-there-is-not", arrange(_panel_seat)),
    ("a-negative-judge", put("reply", "judge", judge=-1)),
    ("a-judge-among-the-candidates", put("reply", "candidate", judge=1)),
    ("a-role-that-is-none", put("reply", role="user")),
    ("a-sample-that-was-not-planned", put("reply", sample=10_000_000)),
    ("a-negative-sample", put("reply", sample=-1)),
    ("no-request-hash", put("reply", has="request_sha256", request_sha256=None)),
    ("another-request-hash", put("reply", has="request_sha256", request_sha256=WRONG)),
    ("a-request-hash-in-capitals", put("reply", has="request_sha256", request_sha256="A" * 64)),
    ("a-short-request-hash", put("reply", has="request_sha256", request_sha256="abc")),
    ("no-request-hash-of-a-failure", put("failure", has="request_sha256", request_sha256=None)),
    ("a-request-hash-where-nobody-was-asked", arrange(lambda facts: _recorded(facts).update(request_sha256=WRONG))),
    ("at-yesterday", put("reply", at="yesterday")),
    ("at-empty", put("reply", at=None)),
    ("at-without-milliseconds", put("reply", at="2026-11-29T05:08:44Z")),
    ("at-with-an-offset", put("reply", at="2026-11-29T05:08:44.000+00:00")),
    ("at-in-lower-case", put("reply", at="2026-11-29t05:08:44.000z")),
    ("at-before-1970", put("reply", at="1969-12-31T23:59:59.999Z")),
    ("at-no-date", put("reply", at="2026-02-30T05:08:44.000Z")),
    ("at-no-time", put("run_started", at="2026-11-29T25:08:44.000Z")),
    ("at-in-other-digits", put("reply", at="٢٠٢٦-11-29T05:08:44.000Z")),
    ("a-seq-left-out", put("reply", SEQ=77)),
    ("a-prev-of-another", put("reply", PREV=WRONG)),
    ("the-same-reply-twice", arrange(_again)),
    ("another-answer-after-the-answer", arrange(_answer_after_answer)),
    ("a-reply-after-the-end", arrange(_after_end)),
    ("ended-before-it-began", arrange(_ended_before)),
    ("ended-twice", arrange(_ended_twice)),
    ("a-reply-after-interrupted", arrange(_reply_after_interrupted)),
    ("resumed-after-the-end", add(-1, "resumed", code_version={}, environment={}, config={})),
    ("begun-twice", arrange(lambda facts: facts.insert(1, dict(facts[0])))),
    ("begun-late", arrange(lambda facts: facts.insert(1, facts.pop(0)))),
    ("a-label-in-a-run", add(1, "label", run_sha256=WRONG, sample=0, labeller="x", field="y")),
    ("a-seal-of-no-segment", add(1, "sealed", segment=1, sha256=WRONG, lines_sha256=WRONG)),
    ("an-outcome-of-nobody", add(1, "outcomes", scorer="x@v1", source_sha256=WRONG, python="3", outcomes=[])),
    ("an-imported-outcome", add(1, "imported", outcomes=[{"sample": 0, "scores": {"match": {"value": 1.0}}}])),
    ("a-kind-that-is-none", add(1, "bribe")),
    ("keys-in-another-order", _reordered),
    ("a-space", as_bytes("reply", b'","', b'", "')),
    ("a-space-at-the-end", lambda record: rewrite(record, line=lambda fact, raw: raw + b" " * (fact["seq"] == 1))),
    ("a-doubled-field", as_bytes("reply", b'"role":', b'"role":"judge","role":')),
    ("a-doubled-field-alike", as_bytes("reply", b'"sample":0', b'"sample":0,"sample":0')),
    ("a-number-as-a-float", as_bytes("reply", b'"sample":0', b'"sample":0.0')),
    ("a-number-with-an-exponent", as_bytes("reply", b'"sample":0', b'"sample":0e1')),
    ("minus-zero", as_bytes("reply", b'"sample":0', b'"sample":-0')),
    ("an-escape-that-needs-none", as_bytes("reply", b'"role"', b'"r\\u006fle"')),
    ("an-escaped-slash", as_bytes("run_started", b"/", b"\\/")),
    ("a-default-written-out", as_bytes("reply", b'"kind"', b'"cached":false,"kind"')),
    ("a-null-written-out", as_bytes("reply", b'"kind"', b'"fingerprint":null,"kind"')),
]  # fmt: skip


def _planned(facts: Facts, sha256: str) -> None:
    """A plan of another set than the one in the inputs."""
    plan = facts[0]["identity"]["plan"]
    _replanned(facts, **{"evalset_sha256" if "evalset_sha256" in plan else "set_sha256": sha256})


def _other_template(facts: Facts) -> None:
    if "prompt_template" not in facts[0]["inputs"]:
        raise NotHereError("no template of one's own")
    _replanned(facts, prompt_template_sha256=WRONG)


def _left_out(facts: Facts) -> None:
    """All facts of a sample, of a run that does not say that some may be missing."""
    if "accepts_unanswered" in _of(facts, "run_ended"):
        raise NotHereError("it was ended with unanswered samples")
    sample = _of(facts, "reply", last=True)["sample"]
    facts[:] = [fact for fact in facts if fact.get("sample") != sample]


def _replanned(facts: Facts, **changes: Any) -> None:
    """A changed plan, under a hash that fits it."""
    facts[0]["identity"]["plan"] |= changes
    started = msgspec.convert({name: value for name, value in facts[0].items() if name != "kind"}, RunStarted)
    facts[0]["plan_sha256"] = evaluator_named(started.spec).plan_sha256(started)


def _recorded(facts: Facts) -> Fact:
    found = next((one for one in facts if one["kind"] == "reply" and "request_sha256" not in one), None)
    if found is None:
        raise NotHereError("every reply was asked for")
    return found


# ── the journal's bytes, and its files ───────────────────────────────────────────────────────────────────────


def _first(record: Path) -> Path:
    return segments_of(record)[0]


def _last(record: Path) -> Path:
    return segments_of(record)[-1]


def last_lines(change: Callable[[list[bytes]], Any]) -> Callable[[Path], None]:
    """Change the lines of the last segment, and nothing else."""

    def done(record: Path) -> None:
        path = _last(record)
        if path.suffix == ".zst":
            raise NotHereError("sealed")
        lines = path.read_bytes().splitlines(keepends=True)
        change(lines)
        path.write_bytes(b"".join(lines))

    return done


def replaced(name: str, how: Callable[[Path], Any]) -> Callable[[Path], None]:
    """Put something else in the place of a file: the first or last segment, an input, or a derived file."""

    def done(record: Path) -> None:
        places = {"first segment": _first, "last segment": _last, "input": _input}
        path = places[name](record) if name in places else record / name
        if not path.is_file():
            raise NotHereError(name)
        how(path)

    return done


def _input(record: Path) -> Path:
    return min(path for path in (record / "inputs").iterdir() if path.is_file())


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _as_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _as_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _as_dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _unreadable(path: Path) -> None:
    if os.geteuid() == 0:
        raise NotHereError("everything can be read here")
    path.chmod(0)


def _folder_as_file(name: str, record: Path) -> None:
    shutil.rmtree(record / name)
    (record / name).write_bytes(b"x")


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


_IN_PLACE: list[tuple[str, Callable[[Path], Any]]] = [
    ("gone", Path.unlink),
    ("empty", lambda path: path.write_bytes(b"")),
    ("a-pointer", lambda path: path.write_bytes(POINTER)),
    ("a-folder", _as_folder),
    ("a-pipe", _as_pipe),
    ("a-loop", _as_loop),
    ("a-device", _as_device),
    ("a-dangling-link", _as_dangling),
    ("unreadable", _unreadable),
    ("a-bit-flipped", _flipped),
    ("cut-in-half", lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])),
    ("a-byte-more", lambda path: path.write_bytes(path.read_bytes() + b"\n")),
    ("zeros-at-the-end", lambda path: path.write_bytes(path.read_bytes() + b"\0" * 4096)),
    ("a-byte-order-mark", lambda path: path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())),
    ("line-ends-of-dos", lambda path: path.write_bytes(_dos(path.read_bytes()))),
    ("compressed", lambda path: path.write_bytes(zstd.compress(path.read_bytes()))),
]


def _dos(data: bytes) -> bytes:
    if b"\n" not in data or b"PAR1" in data[:4]:
        raise NotHereError("no lines")
    return data.replace(b"\n", b"\r\n")


def _in_place() -> Iterator[Mutation]:
    for name in ("first segment", "input", "manifest.json", "aggregates.json", "decision.json", "samples.parquet"):
        for what, how in _IN_PLACE:
            yield f"{name.replace(' ', '-')}-{what}", replaced(name, how)


def added(name: str, data: bytes = b"x\n") -> Callable[[Path], None]:
    def done(record: Path) -> None:
        path = record / name
        if path.exists():
            raise NotHereError(f"{name} is there")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)

    return done


def _swapped(one: str, other: str, record: Path) -> None:
    first, second = record / one, record / other
    if not (first.is_file() and second.is_file()):
        raise NotHereError(f"{one}, {other}")
    first.rename(record / ".swap")
    second.rename(first)
    (record / ".swap").rename(second)


def _inputs_swapped(record: Path) -> None:
    found = sorted(path for path in (record / "inputs").iterdir() if path.is_file())
    if len(found) < 2:
        raise NotHereError("one input")
    _swapped(f"inputs/{found[0].name}", f"inputs/{found[1].name}", record)


def _segment_copied(record: Path) -> None:
    number = len(segments_of(record)) + 1
    shutil.copyfile(_last(record), record / "journal" / f"{number:06d}.jsonl")


def _both_forms(record: Path) -> None:
    path = _last(record)
    if path.suffix == ".zst":
        raise NotHereError("sealed")
    path.with_name(f"{path.name}.zst").write_bytes(zstd.compress(path.read_bytes()))


def _manifest_said(name: str, value: Any, record: Path) -> None:
    """Another value in the manifest, under a hash that fits it."""
    path = record / "manifest.json"
    said = json.loads(path.read_bytes()) | {name: value, "manifest_sha256": ""}
    said["manifest_sha256"] = hashlib.sha256(canonical_json(said)).hexdigest()
    path.write_text(json.dumps(said, indent=2, sort_keys=True) + "\n", encoding="utf-8")


_FILES: list[Mutation] = [
    *_in_place(),
    ("no-journal", lambda record: shutil.rmtree(record / "journal")),
    ("no-inputs", lambda record: shutil.rmtree(record / "inputs")),
    ("the-journal-a-file", partial(_folder_as_file, "journal")),
    ("the-inputs-a-file", partial(_folder_as_file, "inputs")),
    ("last-line-cut", replaced("last segment", lambda path: path.write_bytes(path.read_bytes()[:-1]))),
    ("last-line-gone", last_lines(lambda lines: lines.pop())),
    ("first-line-gone", last_lines(lambda lines: lines.pop(0))),
    ("a-line-gone", last_lines(lambda lines: lines.pop(len(lines) // 2))),
    ("a-line-doubled", last_lines(lambda lines: lines.insert(1, lines[1]))),
    ("lines-swapped", last_lines(lambda lines: lines.insert(1, lines.pop(2)))),
    ("a-blank-line", last_lines(lambda lines: lines.insert(1, b"\n"))),
    ("a-blank-line-at-the-end", last_lines(lambda lines: lines.append(b"\n"))),
    ("a-line-of-nothing", last_lines(lambda lines: lines.append(b"{}\n"))),
    ("half-a-line-more", last_lines(lambda lines: lines.append(b'{"at":"20'))),
    ("a-segment-copied", _segment_copied),
    ("both-forms-of-a-segment", _both_forms),
    ("an-empty-segment-more", added("journal/000002.jsonl", b"")),
    ("a-segment-out-of-order", added("journal/000007.jsonl")),
    ("a-backup-of-a-segment", added("journal/000001.jsonl.bak")),
    ("a-copy-of-a-segment", added("journal/000001 (1).jsonl")),
    ("a-segment-of-a-longer-name", added("journal/0000001.jsonl")),
    ("a-hidden-file-in-the-journal", added("journal/.more")),
    ("an-input-more", added(f"inputs/{WRONG}")),
    ("an-input-by-another-name", added("inputs/items.jsonl")),
    ("a-file-more", added("notes.txt")),
    ("a-report-in-the-record", added("report.html")),
    ("a-folder-more", lambda record: (record / "more").mkdir()),
    ("a-folder-in-the-journal", lambda record: (record / "journal" / "more").mkdir()),
    ("inputs-swapped", _inputs_swapped),
    ("derived-files-swapped", partial(_swapped, "aggregates.json", "decision.json")),
    ("the-manifests-run", partial(_manifest_said, "run_id", "another")),
    ("the-manifests-state", partial(_manifest_said, "state", "complete!")),
    ("the-manifests-journal", partial(_manifest_said, "journal_sha256", WRONG)),
    ("the-manifests-facts", partial(_manifest_said, "journal_facts", 1)),
]  # fmt: skip

MUTATIONS: list[Mutation] = [*_FACTS, *_FILES]


def _another_word(record: Path) -> None:
    """A verdict that the judge did not give, or an answer that nobody gave, where no request tells."""

    def change(facts: Facts) -> None:
        fact = _of(facts, "reply", "judge", "text") if any(one.get("role") == "judge" for one in facts) else None
        fact = fact or _of(facts, "reply", has="text", last=True)
        fact["text"] = fact["text"][:-1]

    rewrite(record, change)


BY_HASH_ALONE: list[Mutation] = [
    ("another-word", _another_word),
    ("another-latency", put("reply", has="latency_e2e_ms", latency_e2e_ms=3)),
    ("another-time", put("reply", at="2026-11-30T00:00:00.000Z")),
    ("another-setting", in_start("config", lambda one: one | {"max_connections": 2})),
    ("another-place", in_start("environment", lambda one: one | {"platform": "Plan 9"})),
]


# ── what a desktop, an editor or a copy leaves behind: no part of a record, and no fault of it ────────────────

LEFT_BEHIND: tuple[str, ...] = (
    ".DS_Store", "._manifest.json", "Thumbs.db", "desktop.ini", "manifest.json~", ".manifest.json.swp", ".directory",
    "journal/.DS_Store", "journal/._000001.jsonl", "journal/000001.jsonl~", "journal/Thumbs.db",
    "inputs/.DS_Store", "inputs/desktop.ini",
)  # fmt: skip
