from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any


class AmanaError(Exception):
    """What a call raises: a ProblemError that the API answered, or a ConnectionError."""

    def __init__(self, message: str, outcome_unknown: bool, idempotency_key: str | None) -> None:
        super().__init__(message)
        # Whether what was asked may have happened. Then it has not failed: send the same again
        # with this idempotency_key, or read, before anything else is done about it.
        self.outcome_unknown = outcome_unknown
        # The key of a POST, also one that the client made.
        self.idempotency_key = idempotency_key


class ConnectionError(AmanaError):
    """No connection, a broken one, an answer that could not be read, or the time was over."""


@dataclass(frozen=True)
class Problem:
    """An answer that is no success (RFC 9457)."""

    status: int
    # Stable: decide by it. Empty when something between here and the API answered.
    code: str
    detail: str
    # What is wrong with a field of the body (pointer) or a query parameter (parameter).
    errors: list[dict[str, str]]
    request_id: str | None
    # In seconds.
    retry_after: float | None
    # All members, those of certain codes too, such as payment_status.
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
    """Only the API writes problem documents: what a proxy says is no word of the API."""
    parsed = None
    if (headers.get("content-type") or "").startswith("application/problem+json"):
        with suppress(ValueError):
            parsed = json.loads(text)
    members: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    seconds = headers.get("retry-after") or ""
    return Problem(
        status=status,
        code=str(members.get("code") or ""),
        detail=str(members.get("detail") or "not an answer of the API"),
        errors=list(members.get("errors") or []),
        request_id=members.get("request_id") or headers.get("x-request-id"),
        retry_after=float(seconds) if seconds.isascii() and seconds.isdigit() else None,
        members=members,
    )
