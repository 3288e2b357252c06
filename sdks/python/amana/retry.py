import random

from .errors import Problem

# Codes of responses after which the request certainly had no effect.
CODES_WITHOUT_EFFECT = ("overloaded", "refunds_held")


def is_outcome_unknown_after(problem: Problem, was_unknown: bool) -> bool:
    """Returns whether the request may have taken effect.

    The result depends on this response and on whether the outcome was unknown before it.
    A rejection before the check of the Idempotency-Key does not change the outcome of earlier
    attempts.
    """
    status, code = problem.status, problem.code
    if status == 409 and code.endswith("_in_progress"):
        return True
    if code and status in (404, 409, 422, 502):
        return False
    return was_unknown if status < 500 or code in CODES_WITHOUT_EFFECT else True


def is_worth_repeating(problem: Problem, repeatable: bool) -> bool:
    """Returns whether the same request may succeed when it is repeated.

    repeatable: whether a repetition has no second effect, which is true for a GET and for a POST
    with a key. Other requests are repeated only after 429.
    """
    status, code = problem.status, problem.code
    if status == 429:
        return True
    if not repeatable:
        return False
    # A 502 of the API is final: the same key returns the same response.
    if status == 502:
        return code == ""
    return status in (500, 503, 504) or (status == 409 and code == "idempotency_in_progress")


def pause_seconds(attempt: int, first: float, retry_after: float | None) -> float:
    """Returns the pause before the next attempt.

    It doubles with each attempt, varies by up to one third, and is at least retry_after.
    """
    return max(first * 2 ** (attempt - 1) * random.uniform(2 / 3, 4 / 3), retry_after or 0)
