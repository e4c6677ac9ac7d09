"""A row for each command, over a folder with every place that it reads or writes; and places that are odd."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchbook.ask.work import run_async
from benchbook.evaluators.protocol.config import judging_config_from_mapping
from benchbook.evaluators.registry import start_run
from exchange.every_eval_ever.made import aggregate, result
from judging import make_set, sound_reply
from labelled import judged_run
from panels import replies_of, run_panel
from running import benchbook_here
from scored import scored
from scripted_server import running as scripted

_JUDGES = "--judge scripted/j@1 --judge-path in:script.json"
_REFEREE = "--judge scripted/j@1 --judge-path in:referee.json"
# Places that it reads are `in:`, those that it writes `out:`.
COMMANDS = (
    "audit in:aggregate.json --html out:audit.html --markdown out:audit.md",
    "baseline set b --runs out:runs",
    "baseline show --runs in:runs",
    "baseline clear --runs out:runs",
    "batch submit in:batch.toml --to-files out:requests --runs out:runs",
    "batch submit --resume in:runs/batched",
    "batch collect in:runs/batched in:results.jsonl --to-files out:requests --runs in:runs",
    "batch status in:runs/batched --runs in:runs",
    "batch cancel in:runs/batched --runs in:runs",
    "calibrate in:runs/run --labels in:labels --html out:card.html --runs in:runs",
    "catalog rebuild --runs in:runs --url out:c.sqlite",
    "catalog refresh --runs in:runs --url out:c.sqlite",
    "catalog show --runs in:runs --url out:c.sqlite",
    "checks check in:mine_checks@v1 --evalset in:items.jsonl",
    "checks init out:new_checks",
    "comment in:runs/b --baseline in:runs/a --out out:comment.md --sarif out:lost.sarif --runs in:runs",
    "compare in:runs/a in:runs/b --html out:c.html --parquet out:c.parquet --runs in:runs",
    "compare in:runs/a in:runs/b --labels in:labels --runs in:runs",
    "completion bash",
    "doctor in:config.toml",
    "evalset diff in:items.jsonl in:items5.jsonl",
    "evalset list",
    "evalset new out:new.jsonl",
    "evalset show in:items.jsonl",
    "evalset validate in:items.jsonl in:script.json",
    "experiment e --html out:e.html --runs in:runs",
    "export in:runs/run --to csv --out out:samples.csv --runs in:runs",
    "export in:runs/run --to inspect --out out:run.eval --runs in:runs",
    "gate in:runs/run --confidence none --runs in:runs",
    "gate in:runs/b --baseline in:runs/a --junit out:junit.xml --runs in:runs",
    "gate in:runs/run --labels in:labels --runs in:runs",
    "grid in:grid.toml",
    (
        "import in:results.jsonl --requests in:requests.jsonl --evalset in:asked.jsonl --reports out:reports "
        "--runs out:runs"
    ),
    "init out:new.toml",
    "join in:runs/many --reports out:reports --runs in:runs",
    "judge archive in:runs/judged --out out:archive --runs in:runs",
    "judge archive in:runs/judged --check in:archive --runs in:runs",
    "judge import in:replies.jsonl --set in:set --out out:judgements.jsonl",
    (
        "judge import in:replies.jsonl --set in:set --record imported --prompts in:prompts.jsonl "
        "--judges in:judges.toml --reports out:reports --runs out:runs"
    ),
    f"judge audit in:runs/run {_JUDGES} --variants longer --audits out:audits --runs in:runs",
    "judge card in:audits/a --html out:card.html",
    "judge init in:outputs_of_set.jsonl --out out:set2",
    "judge pairs in:paired.csv in:annotations.json in:pairs/p",
    f"judge pairs in:runs/run in:runs/other {_REFEREE} --pairs out:pairs --runs in:runs",
    "judge run in:judging.toml --cache out:cache.sqlite --reports out:reports --runs out:runs",
    "judge run in:judging.toml --set in:set --prompts in:prompts.jsonl --spec in:mine_protocol@v1 --dry-run",
    "label adjudicate in:labels --labeller ann",
    "label export in:labels --labeller ann",
    "label import in:labels in:sheet.csv --labeller ann",
    "label next in:labels --labeller ann",
    "label sample in:runs/run --n 1 --out out:book --runs in:runs",
    "label sample in:runs/run --for decision --n 1 --labels in:labels --out out:book --runs in:runs",
    "label status in:labels",
    "leaderboard in:runs/a in:runs/b --runs in:runs",
    "leaderboard in:runs/a in:runs/b --labels in:labels --runs in:runs",
    "panel in:runs/panel --runs in:runs",
    "parse rubric@v1 in:replies.txt",
    "parse in:mine_rubric@v1 in:replies.txt",
    "plan --detect 0.1 --baseline 0.5",
    "position in:pairs.jsonl",
    "protocol check in:mine_protocol@v1",
    "protocol init out:new_protocol",
    "prove in:runs/many 1 --out out:proof.json --facts out:facts.jsonl --runs in:runs",
    # A store takes an address; this one is a folder where none can be.
    "push in:runs/run file:///dev/null/store --runs in:runs",
    "pull file:///dev/null/store/run --runs out:runs",
    "run in:config.toml --run-id kept --shard 1/2 --store file:///dev/null/store --runs out:runs",
    "redact in:runs/other --out out:redacted2 --runs in:runs",
    "rescore in:runs/run --reports out:reports --runs in:runs",
    "rubric check in:mine_rubric@v1 --evalset in:items.jsonl",
    "rubric init out:new_rubric",
    "rubric init out:new_pairs --pairs",
    (
        f"run --evalset in:items.jsonl --model scripted/m@1 --model-path in:script.json {_JUDGES} --ids in:ids.txt "
        "--prompt-template in:template.txt --cache out:cache.sqlite --reports out:reports --runs out:runs"
    ),
    (
        f"run --evalset in:items.jsonl --model recorded/m@1 --outputs in:outputs.jsonl {_JUDGES} "
        "--spec in:mine_rubric@v1 --reports out:reports --runs out:runs"
    ),
    "run in:config.toml",
    "run in:config.toml --run-id many --shard 2/2 --at-once 1 --runs out:runs",
    "run in:config.toml --run-id all --shards 2 --at-once 1 --engine processes --runs out:runs",
    "run --resume in:runs/run",
    "mark b --tag checked --runs out:runs",
    "runs --runs in:runs",
    "site in:runs --run run --out out:site",
    "score answer_correctness@v1 --evalset in:items5.jsonl --predictions in:predictions.jsonl --table out:t.parquet",
    "score contains@v1 --evalset in:items5.jsonl --predictions in:predictions.jsonl --training-metrics in:log.jsonl",
    "score --evalset in:items5.jsonl --predictions in:predictions.jsonl --run-id s --shard 1/2 --runs out:runs",
    "score in:scorer.py:good --evalset in:items5.jsonl --predictions in:predictions.jsonl --runs out:runs",
    "send in:runs/run --to wandb --endpoint out:wandb --runs in:runs",
    "show in:runs/run --runs in:runs",
    "sign in:runs/other --key in:key --runs in:runs",
    "sign in:runs/other --sigstore --trust-config in:trust.json --runs in:runs",
    "token create --name ann --runs out:runs",
    "token list --runs in:runs --token-file in:tokens.json",
    "token revoke TOKEN --token-file in:tokens.json",
    "verify in:runs/run --runs in:runs",
    "verify in:runs/many --proof in:proof.json --facts in:facts.jsonl --runs in:runs",
    "verify in:redacted --facts in:facts.jsonl",
    "verify in:runs/other --signed-by in:signers --runs in:runs",
    "verify in:runs/other --signed-by a@b --issuer https://c --trust-config in:trust.json --runs in:runs",
    "verify in:audits/a",
    "verify in:pairs/p",
)

_CONFIG = """evalset = "items.jsonl"
model = "scripted/m@1"
model_path = "script.json"
judge = "scripted/j@1"
judge_path = "judge.json"
"""
_BATCHED = """evalset = "items.jsonl"
model = "openai/m@1"
model_base_url = "http://127.0.0.1:9/v1"
judge = "openai/j@1"
judge_base_url = "http://127.0.0.1:9/v1"
"""
_REPLY = {"accuracy_score": 2, "faithfulness_score": 1, "rationale": "so"}
_VERDICT = {"better_score": "first", "usable_score": "yes", "rationale": "so"}
_JUDGED = {"question_id": "q0", "prompt_variant": "base", "target_model": "m", "output_id": "1", "judge_model": "j"}
_BATCH = {"custom_id": "a", "body": {"model": "m", "messages": [{"role": "user", "content": "Why?"}]}}
_ANNOTATION = {"instruction": "Why?", "generator_1": "x", "generator_2": "y", "preference": 1.5}
_FILES = {
    "aggregate.json": json.dumps(aggregate(result())),
    "asked.jsonl": '{"id": "a", "prompt": "Why?", "expected_answer": "So."}\n',
    "batch.toml": _BATCHED,
    "config.toml": _CONFIG,
    "grid.toml": f'experiment = "g"\n{_CONFIG}[grid]\nrepeats = [1, 2]\n',
    "ids.txt": "i000\n",
    "judge.json": '{"replies": [{"contains": "", "text": "{}"}]}',
    "judges.toml": "[judges.j]\n",
    "referee.json": json.dumps({"replies": [{"text": json.dumps(_VERDICT)}]}),
    "judging.toml": 'set = "set"\nprompts = "prompts.jsonl"\n[[judges]]\nmodel = "scripted/j@1"\npath = "judge.json"\n',
    "log.jsonl": '{"step": 1, "loss": 0.5}\n',
    "annotations.json": json.dumps([_ANNOTATION]),
    "paired.csv": "item,model_a,model_b,winner\na,x,y,A\nb,x,y,B\n",
    "pairs.jsonl": '{"judge": "j", "item": "a", "winner_ab": 1, "winner_ba": 2}\n',
    "replies.jsonl": json.dumps(_JUDGED | {"method": "cross_judge", "reply": "{}"}) + "\n",
    "replies.txt": json.dumps({"reply": json.dumps(_REPLY)}) + "\n",
    "requests.jsonl": json.dumps(_BATCH) + "\n",
    "results.jsonl": json.dumps({"custom_id": "a", "error": {"code": "batch_expired", "message": "late"}}) + "\n",
    "key": "no key",
    "signers": "ann@example.org ssh-ed25519 AAAA\n",
    "scorer.py": 'import benchbook as bb\n\n@bb.scorer(name="good")\ndef good(item, answer):\n    return 1.0\n',
    "template.txt": "{{prompt}}",
    "trust.json": "{}",
}


def make_places(folder: Path) -> Path:
    """Fill a folder with every place that the rows read."""
    judged_run(folder, [(2, 2), (1, 1), (2, 1)], experiment="e")
    judged_run(folder, [(2, 2), (1, 1), (2, 1)], run_id="other")
    items = (folder / "items.jsonl").read_bytes()
    for run_id in ("a", "b"):
        scored(folder, run_id=run_id)
    (folder / "items.jsonl").rename(folder / "items5.jsonl")
    (folder / "items.jsonl").write_bytes(items)
    (folder / "s").mkdir()
    make_set(folder / "s", 1, ("m",))
    for name, new in (("set", "set"), ("prompts.jsonl", "prompts.jsonl"), ("outputs.jsonl", "outputs_of_set.jsonl")):
        (folder / "s" / name).rename(folder / new)
    with scripted(_judge) as server:
        judges = [{"model": "openai/j@2026-01-01", "base_url": server.base_url}]
        values = {"set": str(folder / "set"), "prompts": str(folder / "prompts.jsonl"), "run_id": "judged",
                  "judges": judges, "runs": str(folder / "runs")}  # fmt: skip
        run_async(start_run(judging_config_from_mapping(values, "test")))
    (folder / "p").mkdir()
    with scripted(replies_of({"a": lambda _: (2, 2), "b": lambda _: (2, 1)})) as server:
        run_panel(folder / "p", server, ("a", "b"), 2, run_id="panel", runs=str(folder / "runs"))
    for name, text in _FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    for words in ("rubric init mine_rubric", "protocol init mine_protocol", "checks init mine_checks",
                  "label sample run --n 1 --out labels", "judge archive judged --out archive",
                  f"judge audit run {_JUDGES.replace('in:', '')} --variants longer --audit-id a --quiet",
                  f"judge pairs run other {_REFEREE.replace('in:', '')} --pairs-id p --quiet",
                  "run config.toml --run-id many --shard 2/2 --quiet",
                  "run config.toml --run-id many --shard 1/2 --quiet",
                  "redact other --out redacted", "join many --reports none --quiet",
                  "prove many 1 --out proof.json --facts facts.jsonl",
                  "batch submit batch.toml --to-files requests --run-id batched --quiet",
                  "token create --name x --token-file tokens.json"):  # fmt: skip
        done = benchbook_here(*words.split(), cwd=folder)
        assert done.returncode == 0, (words, done.stderr)
    (folder / "sheet.csv").write_bytes(
        benchbook_here("label", "export", "labels", "--labeller", "a", cwd=folder).stdout
    )
    return folder


def _judge(role: str, n: int, request: dict[str, Any]) -> dict[str, Any]:
    return {"status": 200, "content": sound_reply(request), "usage": {"prompt_tokens": 9, "completion_tokens": 1}}


def words_of(row: str, folder: Path) -> tuple[list[str], list[int]]:
    """The words of a row, and which of them are places."""
    words = row.split()
    places = [number for number, word in enumerate(words) if word.startswith(("in:", "out:"))]
    words = [word.partition(":")[2] if number in places else word for number, word in enumerate(words)]
    if "TOKEN" in words:
        words[words.index("TOKEN")] = json.loads((folder / "tokens.json").read_bytes())[0]["token_id"]
    return words, places


def odd_places(place: str, folder: Path) -> Iterator[str]:
    """Odd places to put where a row has `place`."""
    name, colon, function = place.partition(":")
    for link, target in (("loop", "loop"), ("dangling", "nowhere/at/all")):
        if not os.path.lexists(folder / link):
            (folder / link).symlink_to(target)
    in_latin_1 = folder / os.fsdecode(b"caf\xe9")  # no UTF-8, and it is there
    in_latin_1.mkdir(exist_ok=True)
    good, there = folder / name, in_latin_1 / name.replace("/", "-")
    if good.is_dir():
        shutil.copytree(good, there, dirs_exist_ok=True)
    elif good.exists():
        shutil.copy(good, there)
    for one in (f"template.txt/{name}", "template.txt", "set", "loop", "dangling", "x" * 300, f"no/such/{name}",
                os.fsdecode(b"\xff/") + name, str(there.relative_to(folder)), "/proc/nothing", ".", ""):  # fmt: skip
        yield f"{one}{colon}{function}"


def check_sentence(words: list[str], folder: Path) -> None:
    """The command ends with a code of its own, and where that is of a mistake or a fault, with a sentence."""
    done = benchbook_here(*words, cwd=folder)
    said = done.stderr.decode("utf-8")
    assert done.returncode in (0, 1, 2, 3), words
    assert done.returncode < 2 or said.strip(), words
    assert "Traceback" not in said, words
