"""The causes that left samples unanswered, in words, with the remedy for each (SPEC R1.3a, R1.3b)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from benchbook.ask.providers.access import default_address, versioned_url
from benchbook.ask.requests import RolePlan
from benchbook.record.facts import Failure, Role, cause_of
from benchbook.text import sentences, shorten

# A word with a digit in it, such as a request id or a count of tokens: it differs between errors of one kind. It is
# sought from where words begin alone, or a long word without one would be gone through once a character.
_NUMBERED = re.compile(r"(?<!\S)\S*\d\S*")
_MOST_KINDS = 20  # a server that words each error differently must not fill the record
_MOST_CHARACTERS = 300  # of a server's message

_DID: Mapping[str, str] = {
    "time_limit": "gave no whole answer within the time limit",
    "connection": "could not be reached, or broke off",
    "dns": "has a name that can't be looked up",
    "tls": "could not be trusted (TLS)",
    "proxy": "could not be reached through the proxy",
    "local": "could not be asked, by a fault of this machine",
    "authentication": "refuses the key",
    "payment": "says that the quota is spent",
    "not_found": "knows no such model or address",
    "parameter": "refuses a parameter",
    "rate_limit": "lets no more requests in",
    "server_error": "failed",
    "request": "refused the request",
    "broken_reply": "sent what is no whole reply",
    "not_carried_out": "ended the batch before it was asked",
}

_MENDED_BY: Mapping[str, str] = {
    "time_limit": "Raise --timeout-ms.",
    "connection": "Is it running, and is that its address ({address})?",
    "dns": "Is that its name ({address})? Behind a proxy, set https_proxy.",
    "tls": "Set SSL_CERT_FILE to a file with the certificate of whoever signed the server's.",
    "proxy": "Look at https_proxy, http_proxy and no_proxy.",
    "local": "For open files, raise `ulimit -n` or lower --max-connections; else make room on this machine.",
    "authentication": "Set the variable that holds its key ({key}).",
    "payment": "Top the account up, or name the variable of another key ({key}).",
    "not_found": "Look at the model's name, and at the address ({address}).",
    "parameter": "Leave it out: {without}.",
    "rate_limit": "Lower --max-connections, or set --requests-per-minute to what it allows.",
    "request": "What it says tells which requests it refuses; other items may be well.",
    "broken_reply": "Does an OpenAI-compatible server answer there ({address}, mostly with /v1 at its end)?",
    "not_recorded": "Add them to the file, and start a new run.",
    "not_carried_out": "Send them again: `benchbook batch submit --resume RUN`.",
    "harness": "Have that tool ask them again, and import its new log.",
}


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """The role that a call was for, as texts name it. `prefix` is that of its settings' names: `model_`, `judge_`, or
    `judges[1].` for one of several judges."""

    role: Role
    prefix: str
    judge: str | None = None  # its name, if there are several judges
    address: str | None = None  # None for a model without one, such as one in this process
    by_another_tool: bool = False  # that tool asked, and its log is all that there is

    @property
    def words(self) -> str:
        whose = "the model" if self.role == "candidate" else f"the judge {self.judge}" if self.judge else "the judge"
        return whose if self.address is None else f"{whose}'s server at {self.address}"

    def option(self, name: str, value: str = "") -> str:
        """A setting as the user gives it: an option, or for one of several judges its place in the config."""
        full = f"{self.prefix}{name}"
        if self.prefix.endswith("_"):
            return f"--{full.replace('_', '-')} {value}".rstrip()
        key, equals, of_key = value.partition("=")
        if equals and name == "params":
            full, value = f"{full}.{key}", of_key
        return f'{full} = "{value}"' if value else full


def who_is_asked(plan: RolePlan, role: Role, config: Mapping[str, Any], prefix: str, judge: str | None = None) -> Who:
    """The name for texts, by a record's plan and its last sitting's settings; `config` has names without `prefix`."""
    return Who(role=role, prefix=prefix, judge=judge, address=config.get("base_url") or default_address(plan.provider))


def said_by(who: Who, cause: str | None, detail: str) -> str:
    """One failed call in words: who failed, how, and with which message."""
    if cause == "not_recorded":
        return "the recorded outputs have none for this item"
    if cause == "harness":
        return f"the tool whose log this is failed: {shorten(detail, _MOST_CHARACTERS)}"
    did = _DID.get(cause or "", "failed")
    said = shorten(detail, _MOST_CHARACTERS)
    return f"{who.words} {did}" + (f": {said}" if said else "")


def advice_on(who: Who, cause: str | None, parameter: str | None = None) -> str:
    """The remedy for a cause, naming the setting or the variable."""
    if cause == "parameter" and parameter == "response_format" and who.role == "judge":
        return f"Leave the JSON schema out: {who.prefix}json_schema = false in the config."
    versioned = versioned_url(who.address) if cause == "not_found" and who.address is not None else None
    if versioned is not None:
        return f"Its address mostly ends in /v1, and this one does not ({who.option('base_url', versioned)})."
    return _MENDED_BY.get(cause or "", "Wait until it is well.").format(
        address=who.option("base_url"),
        key=who.option("api_key_env", "NAME"),
        without=who.option("params", f"{parameter or 'NAME'}=null"),
    )


class Unanswered(msgspec.Struct, frozen=True, kw_only=True):
    """One cause that left samples unanswered. `detail` is the server's message, the first time."""

    role: Role
    judge: str | None  # its name, if there are several judges
    cause: str  # of `record.facts.FailureCause`, or `not_asked`
    status: int | None
    parameter: str | None
    detail: str
    address: str | None
    n_samples: int
    says: str  # all of it, in words
    advice: str  # the remedy

    @property
    def words(self) -> str:
        """The sentence with which reports begin."""
        return sentences(self.says, self.advice)


class UnansweredCauses:
    """Counts causes while samples go by: by role, judge, cause, status, and the message except for numbers in it."""

    def __init__(self, n_samples: int, *, is_part: bool = False) -> None:
        self._n_samples = n_samples
        self._most = None if is_part else _MOST_KINDS  # of a part all kinds are kept, until it is merged
        self._first: dict[tuple[object, ...], tuple[Who, Failure | None]] = {}
        self._counts: dict[tuple[object, ...], int] = {}

    def add(self, who: Who, failure: Failure | None) -> None:
        """Count a sample that waits for `who`, by its last failed call; None if no call was made."""
        said = "" if failure is None else _NUMBERED.sub("#", failure.detail)
        cause, status = cause_of(failure), None if failure is None else failure.status
        self._add((who.role, who.judge, cause, status, said), (who, failure), 1)

    def _add(self, key: tuple[object, ...], first: tuple[Who, Failure | None], times: int) -> None:
        if self._most is not None and key not in self._first and len(self._first) >= self._most:
            key = (*key[:-1], None)
        self._first.setdefault(key, first)
        self._counts[key] = self._counts.get(key, 0) + times

    def merge(self, more: UnansweredCauses) -> None:
        """Add the causes of samples that come after these, counted as a part."""
        for key, times in more._counts.items():
            self._add(key, more._first[key], times)

    def found(self) -> list[Unanswered]:
        """The causes, the most common first and calls that were never made last; ties keep the order of samples."""
        keys = sorted(self._counts, key=lambda key: (self._first[key][1] is None, -self._counts[key]))
        return [self._one(*self._first[key], self._counts[key]) for key in keys]

    def _one(self, who: Who, failure: Failure | None, count: int) -> Unanswered:
        cause = cause_of(failure)
        waits = f"{count:,} of {self._n_samples:,} samples {'is' if count == 1 else 'are'}"
        if failure is None:
            lacks = f"the log does not hold {'it' if count == 1 else 'them'}"
            says, advice = f"{waits} unanswered: {lacks if who.by_another_tool else f'{who.words} was not asked'}.", ""
        else:
            says = f"{waits} unanswered: {said_by(who, cause, failure.detail)}"
            advice = advice_on(who, cause, failure.parameter)
        return Unanswered(
            role=who.role,
            judge=who.judge,
            cause=cause,
            status=None if failure is None else failure.status,
            parameter=None if failure is None else failure.parameter,
            detail="" if failure is None else shorten(failure.detail, _MOST_CHARACTERS),
            address=who.address,
            n_samples=count,
            says=says,
            advice=advice,
        )
