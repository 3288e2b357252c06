from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Webhook:
    """A webhook that is genuine."""

    # The same on every delivery: what has been seen before is not done again.
    id: str
    event: str
    body: dict[str, Any]


class WebhookRefused(Exception):
    """Answer it with 400, and believe nothing that came. The message says why, for your log."""


def verify_webhook(
    headers: Mapping[str, str],
    body: bytes,
    *,
    secrets: Sequence[str],
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> Webhook:
    """Verifies webhook-signature over the body as it came, byte for byte.

    secrets may hold two while they are changed. Raises WebhookRefused, and ValueError for what is
    no secret.
    """
    keys = _keys_of(secrets)
    id, timestamp, given = (_read(headers, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    # With more digits, int() raises or returns a number that is too large for the subtraction below.
    if not (id and given and re.fullmatch("[0-9]{1,15}", timestamp)):
        raise WebhookRefused("webhook headers are missing")
    if not any(_is_good(key, _bytes(f"{id}.{timestamp}.") + body, given) for key in keys):
        raise WebhookRefused("no signature is good")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance_seconds:
        raise WebhookRefused("sent too long ago")
    parsed = json.loads(body)
    return Webhook(id, str(parsed["event"]), parsed)


def verify_x_signature(headers: Mapping[str, str], body: bytes, *, secrets: Sequence[str]) -> None:
    """Verifies X-Signature, which has no time in it: verify_webhook is better. Raises alike."""
    given = _bytes(_read(headers, "x-signature"))
    good = ["sha256=" + hmac.new(key.encode(), body, hashlib.sha256).hexdigest() for key in _keys_of(secrets)]
    if not any([hmac.compare_digest(given, one.encode()) for one in good]):
        raise WebhookRefused("X-Signature is not good")


def _is_good(secret: str, signed: bytes, given: str) -> bool:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    good = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any([hmac.compare_digest(_bytes(one), good) for one in given.split(" ")])


def _bytes(text: str) -> bytes:
    """Returns the bytes of a header. Some servers decode bytes outside UTF-8 to surrogates, which encode() rejects."""
    return text.encode(errors="replace")


def _keys_of(secrets: Sequence[str]) -> Sequence[str]:
    """An empty secret would be a key that everybody has."""
    if isinstance(secrets, str) or not secrets:
        raise ValueError("secrets must be a list of those that the endpoint was given")
    for secret in secrets:
        if not re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret):
            raise ValueError("secrets must be those that the endpoint was given: whsec_ and 44 characters")
    return secrets


def _read(headers: Mapping[str, str], name: str) -> str:
    """Names in any case, as servers write them."""
    return next((value for given, value in headers.items() if given.lower() == name), "") or ""
