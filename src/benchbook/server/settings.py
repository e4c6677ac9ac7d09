"""The settings of a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

BUILT_PAGE = Path(__file__).with_name("static")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a server. `inputs`: the folder whose files a run that is started over HTTP may name.

    `endpoints`: whom such a run may ask, and with which key, as `spending.read_endpoint` reads it. `hosts`: the names
    under which the server is asked, beside the ones of this machine. `root_path`: as `checked_root_path` gives it.
    """

    runs: Path
    catalog: str
    host: str = "127.0.0.1"
    port: int = 8400
    token_file: Path | None = None
    hosts: tuple[str, ...] = ()
    inputs: Path | None = None
    endpoints: tuple[str, ...] = ()
    look_s: float = 1.0  # how often the folder of records is looked through, at most
    kept_bytes: int = 768 << 20  # of results in memory, each by itself
    resident_bytes: int = 560 << 20  # of the process, above which results make room for one another
    root_path: str = ""  # what stands before all addresses, where the server in front leaves it there
    static: Path = BUILT_PAGE
