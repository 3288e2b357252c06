from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


class AmanaError(Exception):
    """Base class of all errors of requests. Subclasses are ProblemError and ConnectionError."""

    def __init__(self, message: str, outcome_unknown: bool, idempotency_key: str | None) -> None:
        super().__init__(message)
        # True if the request may have taken effect or may still take effect. Do not treat such a
        # request as failed. Repeat it with this idempotency_key, or read the resource first.
        self.outcome_unknown = outcome_unknown
        # The Idempotency-Key of a POST, even if the client generated the key.
        self.idempotency_key = idempotency_key


class ConnectionError(AmanaError):
    """Raised if there is no response.

    The connection failed or broke, the response was unreadable, or the time limit passed.
    """


@dataclass(frozen=True)
class Problem:
    """An error response (RFC 9457)."""

    status: int
    # Stable code of the problem, for use in your program. Empty if the response did not come from
    # the API.
    code: str
    detail: str
    # Errors in a field of the body (pointer) or in a query parameter (parameter).
    errors: list[dict[str, str]]
    # Identifies the request in support cases.
    request_id: str | None
    # Seconds until the request can be repeated.
    retry_after: float | None
    # All members of the response. Some codes have their own members, such as payment_status.
    members: dict[str, Any]


class ProblemError(AmanaError):
    def __init__(self, problem: Problem, outcome_unknown: bool, idempotency_key: str | None) -> None:
        super().__init__(f"{problem.status} {problem.code}: {problem.detail}", outcome_unknown, idempotency_key)
        self.status = problem.status
        self.code = problem.code
        self.detail = problem.detail
        self.errors = problem.errors
        self.request_id = problem.request_id
        self.retry_after = problem.retry_after
        self.members = problem.members


def problem_of(status: int, headers: Mapping[str, str], text: bytes) -> Problem:
    """Reads a problem document. The problem of a body that is not from the API has an empty code."""
    parsed = None
    if (headers.get("content-type") or "").startswith("application/problem+json"):
        with suppress(ValueError):
            parsed = json.loads(text)
    members: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    seconds = headers.get("retry-after") or ""
    return Problem(
        status=status,
        code=str(members.get("code") or ""),
        detail=str(members.get("detail") or "the response is not from the API"),
        errors=list(members.get("errors") or []),
        request_id=members.get("request_id") or headers.get("x-request-id"),
        retry_after=float(seconds) if seconds.isascii() and seconds.isdigit() else None,
        members=members,
    )
