"""Judge protocols of a user's own: how a folder is read, and which protocol is meant: one that is shipped, such a
folder, or the one that a record keeps.

`judge_protocol@v1` can be written as a folder, too, and gives the same bytes: a test holds that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

from benchbook.errors import ConfigError
from benchbook.evaluators.kept import kept_own, spec_inputs
from benchbook.evaluators.protocol.rows import ProtocolReadRow
from benchbook.evaluators.protocol.spec import (
    PLACEHOLDERS,
    SPEC_ID,
    Dimension,
    Method,
    MethodPrompt,
    Protocol,
    form,
    protocol_v1,
)
from benchbook.evaluators.quotes import LengthRule
from benchbook.evaluators.settings import is_spec_folder
from benchbook.record.facts import RunStarted
from benchbook.record.folder import Record
from benchbook.specs.faults import Faults, SpecError, SpecTable, near, parsed
from benchbook.specs.fields import (
    NAME_WORDS,
    WrongValueError,
    of_these,
    read_about,
    read_count,
    read_name,
    read_steps,
    read_text,
    read_truth,
    said,
)
from benchbook.specs.folders import (
    PROMPT_FILE,
    SPEC_FILE,
    Role,
    Texts,
    read_generation,
    read_messages,
    read_own,
    spec_text,
)
from benchbook.text import quoted, shorten

_DIMENSION = re.compile("[A-Za-z][A-Za-z0-9_]{0,47}")
_DIMENSION_WORDS = "a name of at most 48 letters, digits and _, a letter first"
_MOST_DIMENSIONS = 20
# Columns of every protocol, and names that rows can be asked for: no dimension may be called so, in any case.
_TAKEN = {name.casefold() for name in (*get_type_hints(ProtocolReadRow), *dir(ProtocolReadRow))}
_METHODS: tuple[Method, ...] = get_args(Method)


def read_protocol(files: Mapping[str, bytes], path: str | Path = SPEC_FILE, sha256: str = "") -> Protocol:
    """The protocol of these files. `path` names spec.toml in messages. Raises: SpecError with every fault."""
    values, lines = parsed(spec_text(files[SPEC_FILE], path), path)
    faults = Faults(path, lines)
    table = SpecTable(values, (), faults)
    name = table.read("name", read_name, needed=NAME_WORDS)
    version = table.read("version", read_count, needed="a whole number from 1")
    about = table.read("about", read_about, needed="one sentence, shown in reports")
    dimensions = _read_dimensions(table)
    fail_at_most, pass_at_least = _read_verdict(table, dimensions)
    length, max_quote_words = _read_evidence(table)
    if_empty, if_off_the_task = _read_probes(table, dimensions)
    prompts = _read_prompts(table, files, faults)
    generation = read_generation(table, protocol_v1().generation)
    table.say_unknown()
    found = faults.in_order()
    if found:
        raise SpecError(found)
    return Protocol(
        id=f"{name}@v{version}",
        sha256=sha256,
        about=about or "",
        dimensions=dimensions,
        fail_at_most=fail_at_most,
        pass_at_least=pass_at_least,
        length=length,
        max_quote_words=max_quote_words,
        max_evidence_items=protocol_v1().max_evidence_items,
        prompts=prompts,
        generation=generation,
        if_empty=if_empty,
        if_off_the_task=if_off_the_task,
    )


# ── dimensions, and what follows from their scores ───────────────────────────────────────────────────────────


def _read_dimensions(table: SpecTable) -> tuple[Dimension, ...]:
    tables = table.tables("dimensions")
    if table.raw("dimensions") in (None, []):
        table.fault("dimensions", "nothing", "at least one [[dimensions]] table")
    if len(tables) > _MOST_DIMENSIONS:
        table.fault("dimensions", f"{len(tables)} of them", f"at most {_MOST_DIMENSIONS}")
    found = [_read_dimension(one) for one in tables]
    taken: set[str] = set()
    for one, dimension in zip(tables, found, strict=True):
        if dimension.name and dimension.name.casefold() in taken:
            one.fault("name", f"{quoted(dimension.name)} a second time", "a name of its own for each dimension")
        taken.add(dimension.name.casefold())
    return tuple(found)


def _read_dimension(table: SpecTable) -> Dimension:
    name = table.read("name", _read_dimension_name, needed=_DIMENSION_WORDS)
    question = table.read("question", read_text, needed="what the judge is asked about an output")
    scale = table.read("scale", _read_scale, needed="a scale such as [0, 1, 2]")
    must_quote = table.read("must_quote", read_truth)
    table.say_unknown()
    lowest, highest = scale or (0, 0)
    return Dimension(name or "", question or "", lowest, highest, must_quote is not False)


def _read_dimension_name(value: Any) -> str:
    if not isinstance(value, str) or not _DIMENSION.fullmatch(value):
        raise WrongValueError(said(value), _DIMENSION_WORDS)
    if value.casefold() in _TAKEN:
        raise WrongValueError(f"{quoted(value)}, which every record has", "another name")
    return value


def _read_scale(value: Any) -> tuple[int, int]:
    return read_steps(value, "whole numbers one after the other, the lowest first, such as [0, 1, 2]")


def _read_verdict(table: SpecTable, dimensions: tuple[Dimension, ...]) -> tuple[int, int]:
    lowest, highest = sum(one.lowest for one in dimensions), sum(one.highest for one in dimensions)
    inner = table.table("verdict")
    if inner is None:
        if "verdict" not in table:
            table.fault("verdict", "nothing", "a table [verdict] with fail_at_most and pass_at_least")
        return lowest, highest
    known = bool(dimensions) and all(one.lowest < one.highest for one in dimensions)
    sums = f"a sum of the scores{f', {lowest} to {highest}' if known else ''}"
    read = partial(_read_sum, sums=range(lowest, highest + 1) if known else None, expected=sums)
    fail_at_most = inner.read("fail_at_most", read, needed=sums)
    pass_at_least = inner.read("pass_at_least", read, needed=sums)
    inner.say_unknown()
    if fail_at_most is not None and pass_at_least is not None and fail_at_most >= pass_at_least:
        inner.fault("pass_at_least", f"{pass_at_least}, which fails", f"more than fail_at_most, {fail_at_most}")
    return fail_at_most or 0, pass_at_least or 0


def _read_sum(value: Any, sums: range | None, expected: str) -> int:
    """A sum of scores, one of `sums`; those are None where faulty dimensions leave them unknown."""
    if type(value) is not int or (sums is not None and value not in sums):
        raise WrongValueError(said(value), expected)
    return value


def _read_evidence(table: SpecTable) -> tuple[LengthRule, int]:
    """How long quotes may be; by default as in `judge_protocol@v1`."""
    usual = protocol_v1()
    inner = table.table("evidence")
    if inner is None:
        return usual.length, usual.max_quote_words
    words = inner.read("max_quote_words", read_count)
    characters = inner.read("min_quote_characters", read_count)
    inner.say_unknown()
    length = LengthRule(characters or usual.length.min_length, usual.length.cjk_character_length)
    return length, words or usual.max_quote_words


def _read_probes(table: SpecTable, dimensions: tuple[Dimension, ...]) -> tuple[str | None, str | None]:
    inner = table.table("probes")
    if inner is None:
        return None, None
    names = tuple(one.name for one in dimensions)

    def read(value: Any) -> str:
        if value not in names:
            raise WrongValueError(said(value), near(value if isinstance(value, str) else "", names or ("a dimension",)))
        return str(value)

    found = inner.read("empty", read), inner.read("other_question", read)
    inner.say_unknown()
    return found


# ── prompts ──────────────────────────────────────────────────────────────────────────────────────────────────

_PLACEHOLDER = re.compile(rf"\{{\{{(?:{'|'.join(PLACEHOLDERS)})\}}\}}")
_NEEDED = ("output_text", "meta")


def _read_prompts(table: SpecTable, files: Mapping[str, bytes], faults: Faults) -> tuple[MethodPrompt, ...]:
    """The prompts that `[[prompts]]` lists, or prompt.txt for both methods."""
    texts = Texts(files, faults, _PLACEHOLDER.fullmatch, PLACEHOLDERS)
    tables = table.tables("prompts")
    if not tables:
        messages = tuple(read_messages([], texts))
        _check_texts(table, "prompts", messages)
        return (MethodPrompt(PROMPT_FILE.removesuffix(".txt"), form().methods, messages),)
    prompts = [_read_prompt(one, texts) for one in tables]
    _check_each_once(tables, prompts)
    for method in form().methods:
        if not any(method in one.methods for one in prompts):
            table.fault("prompts", f"none for {method}", "each method in the methods of one of them")
    return tuple(prompts)


def _check_each_once(tables: list[SpecTable], prompts: list[MethodPrompt]) -> None:
    """Refuse two prompts with one name, or for one method."""
    names, methods = set[str](), set[str]()
    for table, prompt in zip(tables, prompts, strict=True):
        if prompt.name in names:
            table.fault("name", f"{quoted(prompt.name)} a second time", "a name of its own for each prompt")
        if again := sorted(methods & set(prompt.methods)):
            table.fault("methods", f"{again[0]} a second time", "each method in the methods of one prompt")
        names.add(prompt.name)
        methods |= set(prompt.methods)


def _read_prompt(table: SpecTable, texts: Texts) -> MethodPrompt:
    """A prompt: one message of the user's, by `file`, or those of `[[prompts.messages]]`."""
    name = table.read("name", read_name, needed=NAME_WORDS)
    methods = table.read("methods", _read_methods)
    file = table.read("file", read_text)
    listed = table.tables("messages")
    if file is not None and listed:
        table.fault("messages", "messages beside a file", "one of them")
    if file is None and not listed and "file" not in table:
        table.fault("file", "nothing", "the name of a file beside the spec, or [[prompts.messages]] with role and file")
    table.say_unknown()
    messages: tuple[tuple[Role, str], ...] = ()
    if listed and file is None:
        messages = tuple(read_messages(listed, texts))
    elif file is not None and (text := texts.of(file)) is not None:
        messages = (("user", text),)
    _check_texts(table, None, messages)
    return MethodPrompt(name or "", methods or form().methods, messages)


def _read_methods(value: Any) -> tuple[Method, ...]:
    if not isinstance(value, list) or not value:
        raise WrongValueError(said(value), f"a list of {' and '.join(_METHODS)}, or of one of them")
    found = [of_these(one, _METHODS) for one in value]
    return tuple(one for one in _METHODS if one in found)


def _check_texts(table: SpecTable, key: str | None, messages: tuple[tuple[Role, str], ...]) -> None:
    """Refuse messages that do not show a judge what it judges, or the META that it is to copy."""
    text = "".join(one for _, one in messages)
    for name in _NEEDED:
        if messages and f"{{{{{name}}}}}" not in text:
            what = "where the judged text is to stand" if name == "output_text" else "which the judge is to copy"
            table.fault(key, f"no {{{{{name}}}}} in what the judge is asked", f"{{{{{name}}}}} {what}")


# ── which protocol is meant ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ProtocolFolder:
    """A protocol as it stands in a folder, and the files that define it: none beside one that is shipped."""

    protocol: Protocol
    files: Mapping[str, bytes]

    @property
    def inputs(self) -> dict[str, bytes]:
        """The files as a record names them among its inputs."""
        return spec_inputs(self.files)

    @property
    def identity(self) -> dict[str, str]:
        """The entry about its evaluator in the first fact, which the name of a user's own does not tell."""
        return {"evaluator": "protocol"} if self.files else {}


def protocol_asked_for(spec: str) -> ProtocolFolder:
    """The protocol that settings name. Raises: ConfigError for another evaluator; as `load_protocol`."""
    if spec == SPEC_ID:
        return ProtocolFolder(protocol_v1(), {})
    if not is_spec_folder(spec):
        raise ConfigError("spec", repr(shorten(spec, 80)), f"{SPEC_ID}, or the folder of a judge protocol of your own")
    return load_protocol(spec)


def load_protocol(folder: str | Path) -> ProtocolFolder:
    """A user's own protocol. Raises: SpecError with every fault; UsageError where no spec.toml is there."""
    protocol, files = read_own(folder, "benchbook protocol init NAME", read_protocol)
    return ProtocolFolder(replace(protocol, sha256=files.sha256, files=dict(files.read)), dict(files.read))


def protocol_of(record: Record, started: RunStarted) -> Protocol:
    """The protocol that a record is made under; a user's own is read from the files that the record keeps.

    Raises: RecordError for a protocol that neither Benchbook nor the record has; SpecError.
    """
    return protocol_v1() if started.spec == SPEC_ID else kept_protocol(record, started)


def kept_protocol(record: Record, started: RunStarted) -> Protocol:
    """The protocol in the files that a record keeps. Raises: RecordError, SpecError."""
    return kept_own(record, started, lambda files, *others: replace(read_protocol(files, *others), files=files))
