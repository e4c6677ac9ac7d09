"""JSON and lines of JSON, as files of others have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def json_lines(path: Path) -> list[Any]:
    """A value a line; a line ends with a newline alone, for texts have other ends of line in them."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
