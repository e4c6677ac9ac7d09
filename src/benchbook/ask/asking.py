"""One call, from waiting for its turn to the fact that records its outcome."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any

import msgspec

from benchbook.ask.limits import Budget, ConcurrencyLimit, Stop
from benchbook.ask.providers.calls import Answer, CallFailed, Provider
from benchbook.ask.providers.keys import NO_KEYS, Keys
from benchbook.ask.requests import ResponseCache, request_sha256
from benchbook.ask.server_pace import ServerPace
from benchbook.ask.shared_rates import Rate
from benchbook.ask.unanswered import Who, advice_on, said_by
from benchbook.record.facts import Failure, FailureEnds, Reply, Role
from benchbook.record.journal import JournalWriter
from benchbook.text import sentences

_OVERLOADED = (429, 503, 529)
_GOOD_WHILE_S = 60.0  # a limit per minute lets somebody in within that time
_PATIENCE = 3  # times `max_wait_ms`: a server that lets nobody in for so long stops the run
_MILLION = Decimal(1_000_000)


@dataclass(slots=True)
class Endpoint:
    """A model that is asked, the gate in front of it, and its prices (US dollars per million tokens)."""

    provider: Provider
    gate: ConcurrencyLimit
    server: ServerPace = field(default_factory=ServerPace)  # one for all endpoints at one server
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    cache_scope: str = ""  # the part of the response cache's key beside the request: the address and model id
    keys: Keys = NO_KEYS  # its provider takes them out of what comes; what an older cache holds may have them
    who: Who | None = None  # as texts name it
    refuses: bool = False  # it has shown a fault that only a person can mend: it need not be asked again

    def cost_usd(self, input_tokens: int | Decimal | None, output_tokens: int | Decimal | None) -> Decimal:
        cost = Decimal(0)
        if self.input_price is not None:
            cost += self.input_price * (input_tokens or 0)
        if self.output_price is not None:
            cost += self.output_price * (output_tokens or 0)
        return cost / _MILLION


class Call(msgspec.Struct, frozen=True):
    """One request to make: `attempt` 2 of a judge is its parse retry. `cacheable`: a first repeat's first attempt.

    `endpoint` names who is asked; it is the role, if there is one endpoint for each.
    """

    sample: int
    role: Role
    attempt: int
    body: bytes
    endpoint: str
    cacheable: bool = False
    begins: bool = False  # the sample's first: nothing is lost if it is not sent
    judge: int = 0  # which of a panel's judges

    @property
    def whose(self) -> str:
        """The name of whoever is asked, for messages."""
        return self.endpoint if self.judge else self.role


@dataclass(slots=True)
class Asker:
    """Asks within the limits, retries after transport faults (SPEC R3.6), and writes every outcome to the journal."""

    journal: JournalWriter
    endpoints: Mapping[str, Endpoint]
    stop: Stop
    budget: Budget
    max_retries: int
    max_wait_ms: int
    requests: Rate | None = None
    tokens: Rate | None = None
    cache: ResponseCache | None = None
    jitter: random.Random = field(default_factory=random.Random)
    asks_again: bool = False  # samples left unanswered are asked once more, at the end of the sitting
    on_wait: Callable[[], None] = lambda: None  # called when a server wants fewer requests; `waiting` says why
    _waiting: set[asyncio.Task[Any]] = field(default_factory=set)
    _woken: set[asyncio.Task[Any]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.stop.on_stop = self._wake_waiting

    async def ask(self, call: Call) -> Reply | Failure | None:
        """Return the reply, or the failure that ended the sample or the run, once it is in the journal.

        None if the run stops before the request is sent: it is asked when the run is resumed.
        """
        endpoint = self.endpoints[call.endpoint]
        sha256 = request_sha256(call.body)
        if call.cacheable and self.cache is not None:
            hit = self.cache.get(endpoint.cache_scope, call.role, sha256)
            if hit is not None:
                hit = endpoint.keys.removed_from_answer(hit)
                return self._write_reply(call, hit, sha256, queue_ms=0, retry_ms=0, cached=True)
        started = first_sent = time.monotonic()
        queued = 0.0
        tries = retries = 0  # all requests that were sent, and those sent again after a failure
        while True:
            asked_for = time.monotonic()
            if not (self._goes_at_once(endpoint) or await self._has_turn(endpoint, call, tries)):
                return None
            sent = time.monotonic()
            first_sent = sent if tries == 0 else first_sent
            queued += sent - asked_for
            queue_ms, retry_ms = round(queued * 1000), round((sent - started - queued) * 1000)
            try:
                answer = await endpoint.provider.ask(call.body)
            except CallFailed as failed:
                kept_waiting = self._kept_waiting(endpoint, call, failed, sent, first_sent)
                if kept_waiting is None:
                    ends, wait_s = self._count_failure(endpoint, call, failed, retries)
                    retries += 1
                else:
                    ends, wait_s = kept_waiting
                failure = self._write_failure(call, failed, ends, sha256, queue_ms=queue_ms, retry_ms=retry_ms)
                if ends != "attempt":
                    return failure
            else:
                endpoint.gate.answered(answer.latency_e2e_ms or 0)
                endpoint.server.answered(sent)
                self._charge(endpoint, answer)
                if call.cacheable and self.cache is not None:
                    self.cache.put(endpoint.cache_scope, call.role, sha256, answer)
                return self._write_reply(call, answer, sha256, queue_ms=queue_ms, retry_ms=retry_ms)
            finally:
                self._leave(endpoint)
            tries += 1
            if not await self._unless_stopped(partial(asyncio.sleep, wait_s)):
                return None

    def _goes_at_once(self, endpoint: Endpoint) -> bool:
        """Take a turn without a wait if nothing is in the way of a request, as is nearly always so."""
        if self.stop.reason is not None or self.requests is not None or self.tokens is not None or endpoint.refuses:
            return False
        return endpoint.gate.has_room and endpoint.server.try_enter() and endpoint.gate.try_enter()

    async def _has_turn(self, endpoint: Endpoint, call: Call, tries: int) -> bool:
        """Wait for the rate limits and the gate. False, at once, if the run stops and the call can wait for the next
        sitting: it begins a sample, or repeats a failed attempt. False too if the endpoint refuses everybody."""
        can_wait = call.begins or tries > 0
        if not can_wait:
            await self._wait_for_turn(endpoint, urgent=True)
        elif not await self._unless_stopped(partial(self._wait_for_turn, endpoint, urgent=not call.begins)):
            return False
        if endpoint.refuses or (can_wait and self.stop.reason is not None):  # it changed during the wait
            self._leave(endpoint)
            return False
        return True

    def _leave(self, endpoint: Endpoint) -> None:
        endpoint.server.leave()
        endpoint.gate.leave()

    async def _wait_for_turn(self, endpoint: Endpoint, *, urgent: bool) -> None:
        if self.requests is not None:
            await self.requests.take(1, urgent=urgent)
        if self.tokens is not None:
            await self.tokens.take(0, urgent=urgent)
        await endpoint.gate.enter()
        try:
            await endpoint.server.enter()
        except asyncio.CancelledError:
            endpoint.gate.leave()
            raise

    async def _unless_stopped(self, wait: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Wait, and return True; False as soon as the run stops."""
        task = asyncio.current_task()
        if self.stop.reason is not None or task is None:
            return False
        self._waiting.add(task)
        try:
            await wait()
        except asyncio.CancelledError:
            # Our own cancellation, unless somebody else cancels the task too: a second Ctrl-C, a worker that failed.
            if task not in self._woken or task.uncancel() > 0:
                raise
            return False
        finally:
            self._waiting.discard(task)
            self._woken.discard(task)
        return True

    def _wake_waiting(self) -> None:
        self._woken |= self._waiting
        for task in self._waiting:
            task.cancel()

    def _charge(self, endpoint: Endpoint, answer: Answer) -> None:
        if self.tokens is not None:
            self.tokens.charge((answer.input_tokens or 0) + (answer.output_tokens or 0))
        if endpoint.input_price is not None or endpoint.output_price is not None:
            self.budget.spend(endpoint.cost_usd(answer.input_tokens, answer.output_tokens))

    def cost_of(self, call: Call, reply: Reply) -> Decimal:
        """The cost of a reply in dollars; 0 if it came from the cache, or no limit or no price is set."""
        if self.budget.limit_usd is None or reply.cached:
            return Decimal(0)
        return self.endpoints[call.endpoint].cost_usd(reply.input_tokens, reply.output_tokens)

    def _kept_waiting(
        self, endpoint: Endpoint, call: Call, failed: CallFailed, sent: float, first_sent: float
    ) -> tuple[FailureEnds, float] | None:
        """The scope that ends with a call refused at a limit of the server or this machine, and the wait (R3.6a).

        None if the call failed for another reason, or counts as a failed try. A refusal that names a wait does not
        count; a 429 without one does, if nothing else was under way and the server has answered nobody for long.
        """
        server = endpoint.server
        named_s = failed.retry_after_s or None  # "Retry-After: 0" names no wait
        is_local = failed.cause == "local" and failed.retryable
        if not (is_local or failed.status in _OVERLOADED or failed.cause == "rate_limit"):
            others_are_answered = server.answered_at is not None and server.answered_at > first_sent
            if named_s is None or not failed.retryable or others_are_answered or self.asks_again:
                return None  # this request is at fault
        at_a_rate = named_s is not None or is_local or failed.cause == "rate_limit"
        status = None if is_local else failed.status
        alone = server.refused(sent, status=status, named_s=named_s, at_a_rate=at_a_rate)
        if failed.stops_run or not failed.retryable:
            return None
        if not at_a_rate:
            return None  # overloaded: it is asked less, and tried again as after any other fault of a server
        if named_s is None and alone and (is_local or server.unanswered_for_s() > _GOOD_WHILE_S):
            return None
        wait_s = named_s or backoff_s(server.refusals - 1, self.jitter)
        if failed.retry_after_s == 0:
            wait_s = min(wait_s, 1.0)
        if self._is_too_long(call, wait_s):
            return "run", 0.0
        if (silent_s := server.silent_s()) > _PATIENCE * self.max_wait_ms / 1000:
            lets = f"the {call.whose}'s provider has let nobody in for {silent_s:.0f} s: {failed.detail}"
            self.stop.because(lets, failed=True)
            return "run", 0.0
        server.hold(wait_s)
        self.on_wait()
        return "attempt", wait_s

    def _count_failure(
        self, endpoint: Endpoint, call: Call, failed: CallFailed, retries: int
    ) -> tuple[FailureEnds, float]:
        """The scope that a failed try ends, and the wait. At a limit, all who ask the server share tries and wait."""
        if failed.cause not in ("rate_limit", "local"):
            return self._judge_failure(call, failed, retries)
        ends, wait_s = self._judge_failure(call, failed, max(retries, endpoint.server.alone_refused - 1))
        endpoint.server.hold(wait_s)
        return ends, wait_s

    @property
    def waiting(self) -> str | None:
        """The reason why calls wait for a server or this machine, in words; None if none waits."""
        for endpoint in self.endpoints.values():
            if (words := endpoint.server.waiting()) is not None:
                return words
        return None

    def _judge_failure(self, call: Call, failed: CallFailed, retries: int) -> tuple[FailureEnds, float]:
        """The scope that a failure ends (attempt, sample, sitting or run), and the wait before another attempt."""
        who = self.endpoints[call.endpoint].who or Who(role=call.role, prefix=f"{call.role}_")
        said = said_by(who, failed.cause, failed.detail)
        advice = advice_on(who, failed.cause, failed.parameter)
        if failed.stops_run:
            self.endpoints[call.endpoint].refuses = True
            self.stop.because(sentences(said, advice), failed=True)
            return "run", 0.0
        if failed.error == "timeout" and call.role == "candidate":
            return "sample", 0.0  # R1.3: the candidate's time-out is its outcome
        most = self.max_retries if failed.most_retries is None else min(self.max_retries, failed.most_retries)
        if not (failed.retryable or failed.error == "timeout") or retries >= most:
            # R1.3a: the model has no outcome. A file that lacks outputs does not count as a server that is down.
            self.stop.note_unanswered(said, advice, in_a_row=failed.cause != "not_recorded")
            return "sitting", 0.0
        wait_s = failed.retry_after_s if failed.retry_after_s is not None else backoff_s(retries, self.jitter)
        return ("run", 0.0) if self._is_too_long(call, wait_s) else ("attempt", wait_s)

    def _is_too_long(self, call: Call, wait_s: float) -> bool:
        """Stop the run and return True if a wait is longer than the user allows."""
        if wait_s * 1000 <= self.max_wait_ms:
            return False
        asks = f"the {call.whose}'s provider asks to wait {wait_s:.0f} s, over max_wait_ms {self.max_wait_ms}"
        self.stop.because(asks, failed=True)
        return True

    def _write_reply(
        self, call: Call, answer: Answer, sha256: str, *, queue_ms: int, retry_ms: int, cached: bool = False
    ) -> Reply:
        reply = Reply(
            sample=call.sample,
            role=call.role,
            judge=call.judge,
            attempt=call.attempt,
            request_sha256=sha256,
            queue_ms=queue_ms,
            retry_ms=retry_ms,
            cached=cached,
            **msgspec.structs.asdict(answer),  # the same fields, by name
        )
        self.journal.append(reply)
        return reply

    def _write_failure(
        self, call: Call, failed: CallFailed, ends: FailureEnds, sha256: str, *, queue_ms: int, retry_ms: int
    ) -> Failure:
        failure = Failure(
            sample=call.sample,
            role=call.role,
            judge=call.judge,
            attempt=call.attempt,
            error=failed.error,
            ends=ends,
            status=failed.status,
            detail=failed.detail,
            cause=failed.cause,
            parameter=failed.parameter,
            request_sha256=sha256,
            latency_ms=failed.latency_ms,
            queue_ms=queue_ms,
            retry_ms=retry_ms,
        )
        self.journal.append(failure)
        return failure


def backoff_s(retries: int, jitter: random.Random) -> float:
    """Half a second, doubled each time up to 30 s; half of it is random, so that clients spread out."""
    whole: float = min(30.0, 0.5 * 2**retries)
    return whole / 2 + jitter.uniform(0, whole / 2)
