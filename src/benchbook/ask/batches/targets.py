"""Whom a role's requests go to in batches: the vendor, by its address or the settings; its calls and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from benchbook.ask.batches.anthropic_api import VERSION, AnthropicBatches
from benchbook.ask.batches.form import BatchWire
from benchbook.ask.batches.gemini_api import GeminiBatches
from benchbook.ask.batches.http import VendorHttp
from benchbook.ask.batches.limits import BatchLimits, limits_of
from benchbook.ask.batches.openai_api import OpenAIBatches
from benchbook.ask.batches.vendor import BatchVendor
from benchbook.ask.providers.access import DEFAULT_BASE_URL, checked_base_url, takes_api_key
from benchbook.ask.providers.keys import Secret
from benchbook.ask.requests import RolePlan
from benchbook.ask.roles import RoleSettings, access_of
from benchbook.ask.settings import BatchSettings
from benchbook.errors import ConfigError
from benchbook.record.facts import BatchForm, BatchPrepared

_VENDORS: dict[BatchForm, type[BatchVendor]] = {
    "openai": OpenAIBatches,
    "anthropic": AnthropicBatches,
    "gemini": GeminiBatches,
}
_BY_HOST: dict[str, BatchForm] = {"api.anthropic.com": "anthropic", "generativelanguage.googleapis.com": "gemini"}
_OF_COMPATIBLE = "/openai"  # the end of the address at which Gemini takes chat requests
_TIMEOUT_S = 60.0  # without a byte


@dataclass(frozen=True, slots=True)
class BatchTarget:
    """One endpoint's batches. `address` is where they go; None for files that somebody else carries."""

    role: RoleSettings
    plan: RolePlan
    form: BatchForm
    limits: BatchLimits
    address: str | None

    @property
    def wire(self) -> BatchWire:
        return _VENDORS[self.form].wire

    @property
    def model(self) -> str:
        """The model as its vendor names it."""
        return self.plan.name


def target_of(role: RoleSettings, plan: RolePlan, settings: BatchSettings) -> BatchTarget | None:
    """Whom a role's requests are sent to; None for recorded outputs, whom nobody is asked for.

    Raises: ConfigError for a model that can't be asked by batch, and for parameters that its vendor has no place for.
    """
    if plan.provider == "recorded":
        return None
    if plan.provider != "openai":
        expected = "a model openai/… at its vendor's address: only that is asked by batch"
        raise ConfigError(role.setting, plan.model_id, expected)
    named = settings.vendor if role.prefix == "model_" else settings.judge_vendor
    given = checked_base_url(role.config.base_url or DEFAULT_BASE_URL, f"{role.prefix}base_url")
    parts = urlsplit(given)
    form = named or _BY_HOST.get(parts.hostname or "", "openai")
    if parts.query and not settings.by_hand:
        raise ConfigError(f"{role.prefix}base_url", given, "an address without a query; or --to-files")
    address = given.removesuffix(_OF_COMPATIBLE) if form == "gemini" else given
    target = BatchTarget(role, plan, form, limits_of(form, settings), None if settings.by_hand else address)
    target.wire.check(plan, f"{role.prefix}params")
    return target


def vendor_of(batch: BatchPrepared, role: RoleSettings) -> BatchVendor:
    """The calls to a batch's vendor, with the role's key. Raises: ConfigError where the key is missing."""
    if batch.address is None:
        raise ConfigError("batch", batch.batch, "one that was sent: its results come in files")
    _, secret = access_of(role)
    http = VendorHttp(batch.address, _headers(batch.form, batch.address, secret), secret, _TIMEOUT_S)
    return _VENDORS[batch.form](http)


def wire_of(batch: BatchPrepared) -> BatchWire:
    """The form of a batch's requests and results."""
    return _VENDORS[batch.form].wire


def _headers(form: BatchForm, address: str, secret: Secret | None) -> dict[str, str]:
    """The headers with which a vendor takes calls: each has its own for the key."""
    if form == "anthropic":
        return {"anthropic-version": VERSION} | ({} if secret is None else {"x-api-key": secret.reveal()})
    if secret is None:
        return {}
    if form == "gemini":
        return {"x-goog-api-key": secret.reveal()}
    azure = {"api-key": secret.reveal()} if takes_api_key(address) else {}
    return {"Authorization": secret.header(), **azure}
