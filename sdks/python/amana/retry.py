import random

from .errors import Problem

# Error codes that prove that the request had no effect.
CODES_WITHOUT_EFFECT = ("overloaded", "refunds_held")


def is_outcome_unknown_after(problem: Problem, was_unknown: bool) -> bool:
    """Returns True if the request may have taken effect.

    was_unknown is the result for the earlier attempts. It stays valid if the API rejected this
    attempt before it checked the Idempotency-Key.
    """
    status, code = problem.status, problem.code
    if status == 409 and code.endswith("_in_progress"):
        return True
    if code and status in (404, 409, 422, 502):
        return False
    return was_unknown if status < 500 or code in CODES_WITHOUT_EFFECT else True


def is_worth_repeating(problem: Problem, repeatable: bool) -> bool:
    """Returns True if a repetition of the request may succeed.

    repeatable must be True for a GET and for a POST with a key, because their repetition has no
    second effect. For other requests, the result is True only for status 429.
    """
    status, code = problem.status, problem.code
    if status == 429:
        return True
    if not repeatable:
        return False
    # Status 502 with a code comes from the API. It is final, because the same key returns the same
    # response.
    if status == 502:
        return code == ""
    return status in (500, 503, 504) or (status == 409 and code == "idempotency_in_progress")


def pause_seconds(attempt: int, first: float, retry_after: float | None) -> float:
    """Returns the pause before the next attempt.

    The pause doubles with each attempt, varies by up to one third, and is never shorter than
    retry_after.
    """
    return max(first * 2 ** (attempt - 1) * random.uniform(2 / 3, 4 / 3), retry_after or 0)
