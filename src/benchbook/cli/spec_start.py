"""The folder that a spec of one's own starts from, for the commands that write one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from benchbook.errors import ConfigError, RecordError, UsageError

__all__ = ["start_spec"]


def start_spec(name: str, files: Mapping[str, str]) -> tuple[str, list[Path]]:
    """Writes NAME@v1 with these files, by their names: what it is called, and where they are.

    Raises: ConfigError for what is no name; UsageError where one of the files is there; RecordError.
    """
    from benchbook.specs import FROZEN
    from benchbook.specs.fields import NAME

    if not NAME.fullmatch(name):
        raise ConfigError("NAME", repr(name[:60]), "small letters, digits and _, a letter first, at most 48")
    spec = f"{name}@v1"
    if spec in FROZEN:
        raise ConfigError("NAME", repr(name), f"another name: {spec} is shipped")
    texts = {Path(spec) / file: text for file, text in files.items()}
    for path in texts:
        if path.exists():
            raise UsageError(f"{path}: is there already; nothing was written")
    for path, text in texts.items():
        _write(path, text)
    return spec, list(texts)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise RecordError(f"{path}: can't be written ({error.strerror})") from None
