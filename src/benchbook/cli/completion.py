"""`benchbook completion`, and what Tab completes: the ids of runs, the names of sets, files and folders."""

from __future__ import annotations

import os
from typing import Any

import click
from click.shell_completion import BashComplete, CompletionItem, add_completion_class, get_completion_class
from click.shell_completion import split_arg_string as words_of

Items = list[CompletionItem[str]]
_VARIABLE = "_BENCHBOOK_COMPLETE"  # by which click knows that a shell asks


def _named(names: Any, incomplete: str) -> Items:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_file(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """A file, which the shell looks for."""
    del ctx, param
    return [CompletionItem(incomplete, type="file")]


def complete_folder(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """A folder, which the shell looks for."""
    del ctx, param
    return [CompletionItem(incomplete, type="dir")]


def complete_run(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The records in the folder that --runs names before it, `runs` by default; or a folder, where there is none."""
    del param
    from benchbook.record.folder import record_folders

    try:
        names = [path.name for path in record_folders(ctx.params.get("runs") or "runs")]
    except OSError:
        names = []
    return _named(names, incomplete) or [CompletionItem(incomplete, type="dir")]


def complete_set(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """After `@` a set that Benchbook ships, else a file."""
    from benchbook.evalsets.opening import shipped_names

    if not incomplete.startswith("@"):
        return complete_file(ctx, param, incomplete)
    return _named((f"@{name}" for name in shipped_names()), incomplete)


def complete_spec(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """An evaluator that Benchbook ships, or a folder."""
    del ctx, param
    from benchbook.specs import FROZEN

    return _named(sorted(FROZEN), incomplete) or [CompletionItem(incomplete, type="dir")]


class WholeWords(BashComplete):
    """Completion in Bash by the line as it is typed.

    Bash takes words apart at `@`, `=` and `:`, and puts what is completed in the place of the last piece alone.
    """

    source_template = """\
%(complete_func)s() {
    local IFS=$'\\n' response completion type value
    response=$(env COMP_LINE="${COMP_LINE:0:$COMP_POINT}" COMP_PIECE="$2" %(complete_var)s=bash_complete "$1")
    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        if [[ $type == 'dir' ]]; then
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            COMPREPLY+=("$value")
        fi
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""
    _n_kept = 0  # characters of the word that stand before the piece which is replaced

    def source(self) -> str:
        """The script, without starting a shell to ask for its version, as click would."""
        return self.source_template % self.source_vars()

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one at hand, and that."""
        if "COMP_LINE" not in os.environ:  # by a script that click wrote
            return super().get_completion_args()
        line, piece = os.environ["COMP_LINE"], os.environ.get("COMP_PIECE", "")
        words = words_of(line)[1:]
        incomplete = "" if not words or line[-1:].isspace() else words.pop()
        option, equals, value = incomplete.partition("=")
        typed = value if equals and option.startswith("--") else incomplete
        self._n_kept = len(typed) - len(piece) if typed.endswith(piece) else 0
        return words, incomplete

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """A completion as the script reads it: its kind, and what takes the place of the piece."""
        return f"{item.type},{item.value[self._n_kept :]}"


add_completion_class(WholeWords)

_HOW = {
    "bash": 'Put into ~/.bashrc:  eval "$(benchbook completion bash)"',
    "zsh": 'Put into ~/.zshrc:  eval "$(benchbook completion zsh)"',
    "fish": "Write it once:  benchbook completion fish > ~/.config/fish/completions/benchbook.fish",
}


@click.command(epilog="\b\n" + "\n".join(_HOW.values()))
@click.argument("shell", type=click.Choice(list(_HOW)))
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def completion(shell: str, as_json: bool) -> None:
    """Print what SHELL needs to complete commands, options, the ids of runs, set names and files by Tab."""
    from benchbook.cli.main import benchbook

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - one of the choices
    script = kind(benchbook, {}, "benchbook", _VARIABLE).source()
    if as_json:
        from benchbook.cli.output import print_json

        print_json({"shell": shell, "script": script, "how": _HOW[shell]})
    else:
        click.echo(script, nl=False)
