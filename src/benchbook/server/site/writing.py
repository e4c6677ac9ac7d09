"""A site as a folder: the page, the scripts with what it shows, and the list of both, by which anyone can check it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

import msgspec

from benchbook.canonical import canonical_json, decode_json, ready
from benchbook.errors import RecordError, UsageError
from benchbook.record.folder import Record
from benchbook.server.settings import BUILT_PAGE
from benchbook.server.site.answering import answers_about
from benchbook.server.site.collecting import Contents
from benchbook.server.site.contents import site_contents
from benchbook.server.site.packing import script
from benchbook.text import quoted
from benchbook.writing import make_folder, write_file

ABOUT = "site.json"
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
_INDEX = f"""<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta http-equiv="content-security-policy" content="{_POLICY}">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="referrer" content="no-referrer">
    <link rel="icon" type="image/svg+xml" href="icon.svg">
    <link rel="stylesheet" href="page.css">
    <title>Benchbook</title>
  </head>
  <body>
    <div id="root"></div>
    <noscript>Benchbook's page needs JavaScript. The HTML report of a run does not: it is a file of its own.</noscript>
    <script src="page.js" defer></script>
  </body>
</html>
"""


class RunOfSite(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a site, and the hash that names its record: `benchbook verify --expect` holds a record against it."""

    run_id: str
    journal_sha256: str


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """site.json: the runs that a site shows, and the SHA-256 of each of its files."""

    benchbook: str
    runs: tuple[RunOfSite, ...]
    files: dict[str, str]


def write_site(runs: Path, records: Mapping[str, Record], out: Path) -> tuple[Site, int]:
    """Write the site of these records of the folder `runs` into the new folder `out`; returns its size in bytes, too.

    Raises: UsageError for a folder that has something in it, or no records; RecordError where it can't be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(
            f"{out}: is there already; expected a new or an empty folder (--check holds it against records)"
        )
    files, site = _made(runs, records)
    make_folder(out / "data")
    for name, data in files.items():
        write_file(out / name, data, synced=False)
    about = canonical_json(site)
    write_file(out / ABOUT, about + b"\n")  # last: a folder with it is whole
    return site, sum(map(len, files.values())) + len(about) + 1


def site_findings(runs: Path, records: Mapping[str, Record], out: Path) -> tuple[str, ...]:
    """How a site differs from the one that these records give: a sentence for each file; empty where every byte is the
    same.

    Raises: RecordError for a folder that is no site.
    """
    about = read_site(out)
    mine = version("benchbook")
    if about.benchbook != mine:
        raise UsageError(
            f"{out / ABOUT}: was written by Benchbook {about.benchbook}, and this is {mine}; check it with that"
        )
    files, site = _made(runs, {name: records[name] for name in (one.run_id for one in about.runs) if name in records})
    return tuple(_findings(out, about, site, files))


def read_site(out: Path) -> Site:
    """The site.json of a site. Raises: RecordError."""
    try:
        found: Site = decode_json((out / ABOUT).read_bytes(), msgspec.json.Decoder(ready(Site)))
    except OSError as error:
        raise RecordError(f"{out / ABOUT}: can't be read ({error.strerror}); expected the folder of a site") from None
    except msgspec.DecodeError as error:
        raise RecordError(f"{out / ABOUT}: is none of a site ({error})") from None
    return found


def _findings(out: Path, about: Site, site: Site, files: Mapping[str, bytes]) -> Iterator[str]:
    held = {one.run_id: one.journal_sha256 for one in site.runs}
    for run in about.runs:
        if run.run_id not in held:
            yield f"run {quoted(run.run_id)}: there is no such record here"
        elif held[run.run_id] != run.journal_sha256:
            yield f"run {quoted(run.run_id)}: the site shows {run.journal_sha256}, here it is {held[run.run_id]}"
    for name, data in files.items():
        path = out / name
        if not path.is_file():
            yield f"{path}: is missing"
        elif path.read_bytes() != data:
            yield f"{path}: is not what the records give"
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    for name in sorted(there - files.keys() - {ABOUT}):
        yield f"{out / name}: is no file of the site"
    if about != site:
        yield f"{out / ABOUT}: is not what the records give"


def _made(runs: Path, records: Mapping[str, Record]) -> tuple[dict[str, bytes], Site]:
    """The files of a site by their names, and what it says of itself."""
    if not records:
        raise UsageError(f"{runs}: there is no record that a site could show")
    with answers_about(runs, records) as answers:
        contents = site_contents(answers)
        shown = tuple(
            RunOfSite(run_id=name, journal_sha256=answers.json(f"/runs/{name}")["journal_sha256"] or "")
            for name in sorted(records)
        )
    files = {"index.html": _INDEX.encode("ascii"), **_page(), **_scripts(contents), **contents.files}
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    return files, Site(benchbook=version("benchbook"), runs=shown, files=hashes)


def _page() -> dict[str, bytes]:
    """The built page. Raises: UsageError where this installation has none."""
    try:
        built = {name: (BUILT_PAGE / "site" / name).read_bytes() for name in ("page.js", "page.css")}
        return built | {"icon.svg": (BUILT_PAGE / "icon.svg").read_bytes()}
    except OSError as error:
        raise UsageError(f"{error.filename}: the page was not built into this installation (script/ui)") from None


def _scripts(contents: Contents) -> dict[str, bytes]:
    index = canonical_json(
        {
            "answers": contents.answers,
            "files": contents.downloads,
            "lists": contents.lists,
            "texts": contents.text_parts,
        }
    )
    scripts = contents.scripts | {"index": script("index", index)}
    return {f"data/{name}.js": data for name, data in scripts.items()}
