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
    """A verified webhook."""

    # Id of the event. All deliveries of an event have the same id. Ignore an id that you have
    # processed.
    id: str
    event: str
    body: dict[str, Any]


class WebhookRefused(Exception):
    """Raised if a webhook is not genuine. Respond with status 400 and discard the webhook."""


def verify_webhook(
    headers: Mapping[str, str],
    body: bytes,
    *,
    secrets: Sequence[str],
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> Webhook:
    """Verifies webhook-signature for the raw request body.

    secrets: webhook secrets (whsec_…). Pass both secrets during a rotation.
    tolerance_seconds: maximum difference between the timestamp and the clock of this machine.
    Raises WebhookRefused, or ValueError for an invalid secret.
    """
    keys = _keys_of(secrets)
    id, timestamp, received = (_read(headers, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    # With more digits, int() raises, or its result is too large for the subtraction below.
    if not (id and received and re.fullmatch("[0-9]{1,15}", timestamp)):
        raise WebhookRefused("webhook headers are missing")
    if not any(_has_match(key, _bytes(f"{id}.{timestamp}.") + body, received) for key in keys):
        raise WebhookRefused("no signature matches")
    # Written with `not`, so that a tolerance of NaN rejects every webhook.
    if not abs((time.time() if now is None else now) - int(timestamp)) <= tolerance_seconds:
        raise WebhookRefused("the timestamp is outside the tolerance")
    parsed = json.loads(body)
    return Webhook(id, str(parsed["event"]), parsed)


def verify_x_signature(headers: Mapping[str, str], body: bytes, *, secrets: Sequence[str]) -> None:
    """Verifies X-Signature. This signature does not cover the time, so prefer verify_webhook.

    Raises the same errors as verify_webhook.
    """
    received = _bytes(_read(headers, "x-signature"))
    expected = ["sha256=" + hmac.new(key.encode(), body, hashlib.sha256).hexdigest() for key in _keys_of(secrets)]
    if not any([hmac.compare_digest(received, candidate.encode()) for candidate in expected]):
        raise WebhookRefused("X-Signature does not match")


def _has_match(secret: str, signed: bytes, received: str) -> bool:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any([hmac.compare_digest(_bytes(candidate), expected) for candidate in received.split(" ")])


def _bytes(text: str) -> bytes:
    """Returns the bytes of a header.

    Some servers decode bytes outside UTF-8 to surrogates, which encode() rejects.
    """
    return text.encode(errors="replace")


def _keys_of(secrets: Sequence[str]) -> Sequence[str]:
    """Rejects invalid secrets, because any sender could sign with an empty secret."""
    if isinstance(secrets, str) or not secrets:
        raise ValueError("secrets must be a list with at least one secret")
    for secret in secrets:
        if not re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret):
            raise ValueError("each secret must be whsec_ followed by 44 characters, as shown for the endpoint")
    return secrets


def _read(headers: Mapping[str, str], name: str) -> str:
    """Reads a header. Names may be in upper or lower case."""
    return next((value for received, value in headers.items() if received.lower() == name), "") or ""
