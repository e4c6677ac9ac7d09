"""`benchbook init`."""

from __future__ import annotations

from pathlib import Path

import click

from benchbook.cli.output import json_option, print_json
from benchbook.errors import UsageError
from benchbook.text import visible

__all__ = ["init"]


# Settings that a new file sets; the others stand in it as comments with their defaults.
_SET = {"evalset": "@support_v1", "model": "local/smollm2-135m", "judge": "local/smollm2-135m"}


@click.command()
@click.argument("file", default="benchbook.toml")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@json_option
def init(file: str, force: bool, as_json: bool) -> None:
    """Write a commented config to FILE (benchbook.toml). It runs as it is: `benchbook run FILE`."""
    path = Path(file)
    if path.exists() and not force:
        raise UsageError(f"{file}: is there already; --force replaces it")
    try:
        path.write_text(config_text(), encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{file}: can't be written ({error.strerror})") from None
    if as_json:
        print_json({"path": str(path)})
    else:
        click.echo(visible(f"{file}: written. Next: benchbook run {file}"))


def config_text() -> str:
    """The commented file, made from the table of settings."""
    from benchbook.evaluators.settings import SETTINGS, RunConfig

    defaults = dict(zip(RunConfig.__struct_fields__[::-1], RunConfig.__struct_defaults__[::-1], strict=False))
    lines = ["# A run of Benchbook: benchbook run THIS_FILE. Options of the same names win over it."]
    for section, settings in SETTINGS.items():
        lines += ["", f"# ── {section} ──"]
        for name, meaning in settings.items():
            lines.append(f"# {meaning}")
            if name in _SET:
                lines.append(f'{name} = "{_SET[name]}"')
            else:
                lines.append(f"# {name} = {_example(name, defaults.get(name))}")
    return "\n".join(lines) + "\n"


_EXAMPLES = {
    "limit": "50", "where": '["section=core"]', "ids": '"ids.txt"',
    "prompt_template": '"prompt.txt"', "outputs": '"outputs.jsonl"', "output_columns": '{output = "completion"}',
    "repeats": "3", "unmeasured": '["latency", "tokens"]', "model_base_url": '"http://localhost:8000/v1"',
    "model_api_key_env": '"MY_API_KEY"', "model_path": '"model.gguf"', "model_params": "{max_tokens = 512}",
    "model_reasoning_tags": '["think"]', "model_input_price": '"0.40"', "model_output_price": '"1.60"',
    "judge_base_url": '"https://host/v1"', "judge_api_key_env": '"MY_JUDGE_KEY"', "judge_path": '"judge.gguf"',
    "judge_params": "{max_tokens = 512}", "judge_reasoning_tags": '["think"]', "judge_json_schema": "true",
    "judge_input_price": '"0.40"', "judge_output_price": '"1.60"', "requests_per_minute": "500",
    "tokens_per_minute": "200000", "max_cost_usd": '"5.00"', "max_seconds": "3600", "cache": '"cache.sqlite"',
    "experiment": '"release-1"', "against": '"before"',
    "run_id": '"my-run"', "confidence": "0.95", "error": "0.05", "order_seed": "1", "panel_rule": '"majority"',
    "judges": '[{model = "openai/a@1"}, {model = "openai/b@2", base_url = "http://localhost:8000/v1"}]',
}  # fmt: skip


def _example(name: str, default: object) -> str:
    if name in _EXAMPLES:
        return _EXAMPLES[name]
    if isinstance(default, bool):
        return str(default).lower()
    return f'"{default}"' if isinstance(default, str) else str(default)
