"""The commands in groups by what people want, and the group that imports one when it is called, so that the start stays
quick."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence

import click

# Group -> command -> what it is for. A function has its command's name, but for `import`, which is a word of Python's.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "Begin": {
        "init": "Write a commented config file to start from.",
        "demo": "Evaluate a small local model on a shipped eval set, start to end.",
        "doctor": "Show what is installed, which providers answer, and how a config reads.",
    },
    "Ask and score": {
        "run": "Ask a model, have its answers judged, and decide.",
        "batch": "Ask by vendors' batches: within a day, at about half the price.",
        "score": "Score predictions against expected answers, and record every item.",
        "judge": "Make an evaluation set of outputs, or bring in judgements that were made elsewhere.",
        "grid": "Run one experiment over several models, prompts or other settings.",
        "join": "Make one record of the parts of a run that many writers asked.",
    },
    "Look": {
        "runs": "List the records in a folder.",
        "mark": "Write a name, a note or tags on a run, or archive it.",
        "show": "Show a run's decision and numbers, or one of its samples.",
        "verify": "Re-derive a record and name every byte that was changed.",
        "rescore": "Compute a record's numbers again, without calling a model.",
        "prove": "Write a short proof that a sample is in a joined record.",
        "sign": "Sign a record's hash and decision, with an SSH key or by Sigstore.",
        "redact": "Write a copy of a record without its texts, which still verifies.",
        "experiment": "Take the runs of one experiment together, its plans side by side.",
    },
    "Compare and decide": {
        "compare": "Say what regressed and what improved between runs, item by item.",
        "gate": "Exit 0 only if a run is READY.",
        "baseline": "Set, show or clear the run that others are held against.",
        "leaderboard": "Rank runs, and say which can't be told from the best.",
        "plan": "Say how many items a comparison needs, before it is run.",
        "comment": "Put a run on the change that it is for: a comment, SARIF, annotations.",
    },
    "Judges and people's labels": {
        "label": "Draw a run's samples for people to label, and bring their labels back.",
        "calibrate": "Hold a run's judge against people's labels, and correct the numbers for its errors.",
        "panel": "Show a panel of judges: how they agree, and what a person should look at first.",
        "position": "Say of judges of pairs whether the answer wins, or the place in which it was shown.",
        "parse": "Read judges' replies strictly, one JSON line each.",
    },
    "Eval sets and evaluators of your own": {
        "evalset": "Validate, show, compare or start eval sets.",
        "rubric": "Make a rubric of your own: what a judge is asked, and what passes.",
        "checks": "Make evaluators of your own, without a judge.",
        "protocol": "Make a judge protocol of your own: dimensions, verdicts, evidence, prompts.",
    },
    "Other tools": {
        "import": "Make records of other tools' logs.",
        "audit": "Compute each number of another tool's log again from its samples.",
        "export": "Write a run in another tool's form, or as a table.",
        "push": "Put a record into an object store, such as a bucket of S3's.",
        "pull": "Get a record from an object store.",
        "send": "Send a run's results to OpenTelemetry, Langfuse, MLflow or W&B.",
    },
    "Serve, and set up": {
        "serve": "Serve the HTTP API and the page over a folder of records.",
        "site": "Write the page as files that need no server: for CI, and for publication.",
        "token": "Make, list and revoke tokens for a server that others can reach.",
        "catalog": "Index records in a database, for lists and leaderboards.",
        "completion": "Print what a shell needs to complete commands, runs and sets by Tab.",
    },
}
COMMANDS: Mapping[str, str] = {name: meaning for group in GROUPS.values() for name, meaning in group.items()}

# Commands that share a module, by it; any other's is `benchbook.cli.<command>`.
_SHARED: Mapping[str, str] = {
    "baseline": "comparison",
    "calibrate": "judges",
    "catalog": "server",
    "checks": "own_specs",
    "compare": "comparison",
    "experiment": "experiments",
    "grid": "experiments",
    "import": "import_log",
    "join": "shards",
    "leaderboard": "comparison",
    "panel": "judges",
    "parse": "judges",
    "plan": "experiments",
    "position": "judges",
    "protocol": "own_specs",
    "prove": "shards",
    "pull": "stores",
    "push": "stores",
    "rescore": "records",
    "rubric": "own_specs",
    "runs": "records",
    "serve": "server",
    "show": "records",
    "sign": "signing",
    "token": "server",
    "verify": "records",
}

_EXAMPLES = (
    ("benchbook demo", "see all of it with a small local model: no key, no network"),
    ("benchbook init && benchbook run benchbook.toml", "start with a config of your own"),
    ("benchbook score --evalset items.jsonl --predictions answers.jsonl", "score what a model said"),
    ("benchbook compare BEFORE AFTER", "what got better and what got worse, item by item"),
)
_DOCS = "https://github.com/benchbook/benchbook/tree/main/docs"


def write_examples(examples: Sequence[tuple[str, str]], formatter: click.HelpFormatter) -> None:
    """Write commands as they are typed, what each does below it."""
    if not examples:
        return
    with formatter.section("Examples"):
        for command, meaning in examples:
            for line in command.split("\n"):
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
            with formatter.indentation():
                formatter.write_text(meaning)


class LazyGroup(click.Group):
    """The group of all commands: it lists them without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"benchbook.cli.{_SHARED.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, "import_log" if cmd_name == "import" else cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names. Raises: click.UsageError with one that is near, where there is one."""
        name = args[0]
        if name not in COMMANDS and not ctx.resilient_parsing and not name.startswith("-"):
            from benchbook.text import did_you_mean, quoted

            ctx.fail(f"no such command {quoted(name)}{did_you_mean(name, COMMANDS) or '.'}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem[str]]:
        """The commands that begin so, and the options of none; importing each for its help would take seconds."""
        from click.shell_completion import CompletionItem

        named = [CompletionItem(name, help=COMMANDS[name]) for name in sorted(COMMANDS) if name.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands by their groups, without importing them; then what to begin with, and where to read on."""
        del ctx
        width = max(map(len, COMMANDS))
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(width), meaning) for name, meaning in commands.items()])
        write_examples(_EXAMPLES, formatter)
        formatter.write_paragraph()
        formatter.write_text(f"`benchbook COMMAND --help` has its options and examples. The manual: {_DOCS}")
