"""Parts that every config file's settings share: types, checks, reading the file; and one judge among several."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from benchbook.ask.model_id import parse_model_id
from benchbook.ask.providers.access import means_credential
from benchbook.ask.providers.keys import redact
from benchbook.canonical import ready
from benchbook.errors import ConfigError, InputError, UsageError
from benchbook.evalsets.table_columns import comma_hint
from benchbook.specs.faults import NoTomlError, toml_values
from benchbook.text import all_storable, quoted, shorten, storable

Positive = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Price = Annotated[Decimal, Meta(description="US dollars per million tokens")]


class BatchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How requests go out in batches. What is None follows from the address, and from the vendor's documents.

    `vendor` says whose calls the model's address takes, `judge_vendor` the judges'. `price_factor` is the part of the
    price that a token in a batch costs. `settle_seconds`: for so long after a call without an answer a batch may appear
    at its vendor; nothing of it is sent again before.
    """

    vendor: Literal["openai", "anthropic", "gemini"] | None = None
    judge_vendor: Literal["openai", "anthropic", "gemini"] | None = None
    price_factor: Decimal | None = None
    max_requests: Annotated[int, Meta(ge=1, le=10_000_000)] | None = None
    max_bytes: Positive | None = None
    settle_seconds: Count = 60
    by_hand: bool = False  # files are written, which somebody else carries to the vendor


class SittingSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of any run: its evaluator, its limits, and where its files go."""

    spec: str
    max_connections: Annotated[int, Meta(ge=1, le=10_000)] = 32
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    max_cost_usd: Decimal | None = None
    max_seconds: Positive | None = None
    timeout_ms: Positive = 60_000
    max_retries: Count = 4
    max_wait_ms: Count = 60_000
    accept_unanswered: bool = False
    cache: str | None = None
    batch: BatchSettings | None = None

    runs: str = "runs"
    run_id: str | None = None
    reports: str | None = "reports"


def _not_money(value: Any) -> str | None:
    """The value as text if it is a decimal that can't be dollars; None for anything else."""
    return str(value) if isinstance(value, Decimal) and not (value.is_finite() and value >= 0) else None


def check_money(values: Mapping[str, Any], prefix: str) -> None:
    """Refuse decimals that can't be dollars. Raises: ConfigError naming the first, with `prefix` before its name."""
    for name, value in values.items():
        if (found := _not_money(value)) is not None:
            raise ConfigError(f"{prefix}{name}", found, "dollars, 0 or more")


_NO_PARAMETERS = frozenset({"messages", "model", "stream", "response_format"})  # what a request has of its own
# By which vendors' libraries, and servers that pass requests on, would ask elsewhere, or as somebody else.
_ELSEWHERE = frozenset({
    "apibase", "apikey", "apiversion", "azureendpoint", "baseurl", "clientargs", "credentials", "customllmprovider",
    "endpoint", "httpclient", "proxies", "proxy", "url",
})  # fmt: skip
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110: a token
_OF_THE_CONNECTION = re.compile(
    r"host|content-.*|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|via|forwarded|x-forwarded-.*"
    r"|x-real-ip|proxy-.*|.*http2-settings|x-http-method.*"
)


def checked_params(params: Mapping[str, Any], setting: str) -> None:
    """Refuse generation parameters that no request can hold, and those that would send it elsewhere, or as another.

    Raises: ConfigError.
    """
    if (found := _not_in_json(params)) is not None:
        raise ConfigError(setting, found, "values that JSON has")
    for name in params:
        if name in _NO_PARAMETERS or re.sub(r"\W|_", "", name).lower() in _ELSEWHERE:
            raise ConfigError(setting, shorten(name, 60), "generation parameters only")
        if name.lower().endswith("headers"):
            _check_headers(params[name], f"{setting}.{name}")


def _check_headers(headers: Any, setting: str) -> None:
    """Refuse headers that say where a request goes, where it ends, or who sends it: a key would stay in the record.

    Raises: ConfigError.
    """
    if headers in (None, "null"):
        return
    if not isinstance(headers, Mapping):
        raise ConfigError(setting, type(headers).__name__, "a table of headers")
    for name, value in headers.items():
        if not _HEADER.fullmatch(name) or not isinstance(value, str) or not (value.isascii() and value.isprintable()):
            raise ConfigError(setting, repr(shorten(name, 60)), "a header's name and a value in printable ASCII")
        if _OF_THE_CONNECTION.fullmatch(name.lower()):
            raise ConfigError(setting, name, "nothing that says where a request goes or where it ends")
        if means_credential(name) or redact(value) != value:
            raise ConfigError(setting, name, "nothing with a key; `api_key_env` names the variable that has it")


def _not_in_json(value: Any) -> str | None:
    """The first value that TOML has and JSON lacks, as text: nan, inf, a date. None if there is none."""
    if isinstance(value, Mapping | list):
        inner = value.values() if isinstance(value, Mapping) else value
        return next((found for one in inner if (found := _not_in_json(one)) is not None), None)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return None if isinstance(value, str | int | float | None) else f"{type(value).__name__} {value}"


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a TOML file. Raises: UsageError, InputError."""
    try:
        return toml_values(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: can't be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise InputError(
            path, found=f"byte {error.object[error.start]:#04x} at {error.start}", expected="UTF-8"
        ) from None
    except NoTomlError as error:
        raise InputError(path, found=error.found, expected=error.expected) from None


_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}
_TYPE = re.compile(r"`(\w+(?: \| \w+)*)`")
_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[]+)")
_BOUND = re.compile(r" (>=|<=|>|<) ([\d.]+)")
_BOUNDS = {">=": "{} or more", "<=": "{} or less", ">": "more than {}", "<": "less than {}"}


def value_at_place(values: Mapping[str, Any], place: str) -> Any:
    """The value at a place as messages name it, `judges[0].input_price`; None if there is none."""
    value: Any = values
    for index, name in _STEP.findall(place):
        if index:
            value = value[int(index)] if isinstance(value, list | tuple) and int(index) < len(value) else None
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    return value


def expected_words(message: str, settings: type[msgspec.Struct], name: str, found: Any = None) -> str:
    """A message of msgspec in plain words: `` Expected `int` >= 1 `` as `a whole number, 1 or more`.

    The words that a setting may be are listed; a number with a comma is shown with a point. Other messages stay.
    """
    if isinstance(found, str) and (hint := comma_hint(found)) and ("decimal" in message or "float" in message):
        return hint
    if message.startswith("Invalid decimal"):
        return "a decimal number, such as 0.25"
    if message.startswith("Invalid enum value"):
        hint = get_type_hints(settings).get(name)
        also = ["a number"] if float in _types_of(hint) else []
        return " or ".join([*also, *_words_of(hint)]) or message
    if not message.startswith("Expected "):
        return message
    wanted, _, _ = message.removeprefix("Expected ").partition(", got ")
    wanted = _TYPE.sub(lambda found: " or ".join(_TYPES.get(name, name) for name in found[1].split(" | ")), wanted)
    return _BOUND.sub(lambda found: ", " + _BOUNDS[found[1]].format(found[2]), wanted) + _per_cent(message, found)


def _per_cent(message: str, found: Any) -> str:
    """A hint for a share that was given in per cent: `: 0.95 for 95 %`."""
    try:
        number = float(found) if "< 1.0" in message else 0.0
    except (TypeError, ValueError):
        return ""
    return f": {number / 100:g} for {number:g} %" if 1 < number < 100 else ""


def _words_of(hint: Any) -> Iterator[str]:
    """The words of every `Literal` in a type."""
    if get_origin(hint) is Literal:
        yield from map(str, get_args(hint))
    else:
        for part in get_args(hint):
            yield from _words_of(part)


def _types_of(hint: Any) -> Iterator[Any]:
    """Every plain type in a type."""
    parts = get_args(hint) if get_origin(hint) is not Literal else ()
    if not parts:
        yield hint
    for part in parts:
        yield from _types_of(part)


# Settings that name a file or a folder: of a run, and (the last) of a judge.
PATHS = (
    "evalset", "ids", "prompt_template", "outputs", "set", "prompts", "model_path", "judge_path", "cache", "runs",
    "reports",
)  # fmt: skip
_MAY_NAME_FILES = frozenset({*PATHS, "spec", "against", "path", "prompt"})


def storable_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with each text storable, as they will be recorded; paths stay, since a file may have any name.

    What is no UTF-8 on a command line comes as half characters, and so may what a library's user gives.
    """
    made = {}
    for name, value in values.items():
        if name == "judges" and isinstance(value, list | tuple):
            made[name] = [storable_settings(one) if isinstance(one, dict) else all_storable(one) for one in value]
        else:
            made[storable(name)] = value if name in _MAY_NAME_FILES else all_storable(value)
    return made


_OF_FILES = ("local", "scripted")  # the kinds of provider that take a path
_ADDRESS = ("base_url", "api_key_env", "path")  # where a judge is asked, and with which key


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of one model. `name` is that of one of several judges in tables; by default the model's name."""

    model: str
    name: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    path: str | None = None
    params: dict[str, Any] = {}
    reasoning_tags: tuple[str, ...] = ()
    json_schema: bool | None = None
    input_price: Price | None = None
    output_price: Price | None = None


class AskedJudgeConfig(ModelConfig, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A judge of a judging experiment; the last fields declare what its endpoint does not report (SPEC P7)."""

    tools: tuple[str, ...] | None = None  # empty: it has none
    web_access: bool | None = None


def numbered_judges(judges: Sequence[ModelConfig]) -> tuple[tuple[str, str, ModelConfig], ...]:
    """Each judge, with the setting that names its model, and the prefix of its other settings in messages."""
    return tuple((f"judges[{number}].model", f"judges[{number}].", judge) for number, judge in enumerate(judges))


def check_judges(judges: Sequence[ModelConfig], source: str) -> None:
    """Refuse prices and parameters that no judge can have. Raises: ConfigError."""
    for _, prefix, judge in numbered_judges(judges):
        prices = {name: getattr(judge, name) for name in ("input_price", "output_price")}
        check_money(prices, f"{source}: {prefix}")
        checked_params(judge.params, f"{source}: {prefix}params")


def inheriting(judge: ModelConfig, shared: Mapping[str, Any]) -> ModelConfig:
    """A judge with the settings that all judges share, for those that it has none of.

    A key goes where it was given for: not to another address than the shared one, nor to another kind of provider.
    """
    kind = judge.model.partition("/")[0]
    taken = {name: value for name, value in shared.items() if getattr(judge, name) in (None, (), {})}
    if kind != "openai":
        taken.pop("base_url", None)
    if kind != "openai" or judge.base_url is not None:
        taken.pop("api_key_env", None)
    if kind not in _OF_FILES:
        taken.pop("path", None)
    return msgspec.structs.replace(judge, **taken)


def judge_names(judges: Sequence[ModelConfig]) -> tuple[str, ...]:
    """The name of each judge. Raises: ConfigError if two have the same."""
    names: list[str] = []
    for setting, prefix, judge in numbered_judges(judges):
        name = judge.name if judge.name is not None else parse_model_id(judge.model, setting).name
        if name in names:
            raise ConfigError(f"{prefix}name", f"{name!r} again", 'a name of its own: name = "…" in its [[judges]]')
        names.append(name)
    return tuple(names)


def with_paths_from(judges: Any, file: Path) -> None:
    """Make the paths of a file's `judges` relative to its folder. Entries that are not tables are refused later."""
    for place, judge in enumerate(judges) if isinstance(judges, list) else ():
        if isinstance(judge, dict) and isinstance(judge.get("path"), str):
            judge["path"] = path_beside(file, f"judges[{place}].path", judge["path"])


def path_beside(file: Path, setting: str, path: str) -> str:
    """The path that a setting of a config file names, from here. Raises: InputError for one that no file can have."""
    if "\0" in path:
        raise InputError(file, field=setting, found=quoted(path), expected="a path, which has no NUL character")
    return str(file.parent / path)


def only_addresses_differ(recorded: Any, given: Any) -> bool:
    """True if the `given` judges are the recorded ones at other addresses, so that a run may resume with them."""
    try:
        before, after = (
            msgspec.convert(one, ready(tuple[AskedJudgeConfig, ...]), strict=False) for one in (recorded, given)
        )
    except msgspec.ValidationError:
        return False
    nowhere: dict[str, Any] = dict.fromkeys(_ADDRESS)
    return [msgspec.structs.replace(one, **nowhere) for one in before] == [
        msgspec.structs.replace(one, **nowhere) for one in after
    ]


def moved_judges(recorded: Any, moves: Sequence[str]) -> list[dict[str, Any]]:
    """The judges of a record with some addresses changed; each move is `NAME.SETTING=VALUE`.

    Raises: ConfigError for an unknown judge, or a setting that is not an address.
    """
    judges = msgspec.convert(recorded or (), ready(tuple[AskedJudgeConfig, ...]), strict=False)
    names = judge_names(judges)
    moved: list[dict[str, Any]] = msgspec.to_builtins(judges)
    for move in moves:
        place, equals, value = move.partition("=")
        name, _, setting = place.rpartition(".")
        if not equals or setting not in _ADDRESS:
            raise ConfigError("--move-judge", repr(move), f"NAME.SETTING=VALUE; SETTING: {', '.join(_ADDRESS)}")
        if name not in names:
            raise ConfigError("--move-judge", f"judge {name!r}", f"one of {', '.join(names) or 'several judges'}")
        moved[names.index(name)][setting] = value or None
    return moved
