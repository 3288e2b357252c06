import random

from .errors import Problem

# Refusals that say by themselves that nothing was done.
NOTHING_DONE = ("overloaded", "refunds_held")


def is_open_after(problem: Problem, was_open: bool) -> bool:
    """Whether what was asked may have happened, after this answer and what was known before.

    What the API refuses before it looks at the Idempotency-Key says nothing about an earlier
    attempt.
    """
    status, code = problem.status, problem.code
    if status == 409 and code.endswith("_in_progress"):
        return True
    if code and status in (404, 409, 422, 502):
        return False
    return was_open if status < 500 or code in NOTHING_DONE else True


def is_worth_repeating(problem: Problem, repeatable: bool) -> bool:
    """Whether the same request may do better.

    repeatable: twice is once, as of a GET, or of a POST with its key. Whatever else can be sent
    again only where nobody has begun with it.
    """
    status, code = problem.status, problem.code
    if status == 429:
        return True
    if not repeatable:
        return False
    # The API's own 502 is final, and comes again under the same key.
    if status == 502:
        return code == ""
    return status in (500, 503, 504) or (status == 409 and code == "idempotency_in_progress")


def pause_seconds(attempt: int, first: float, retry_after: float | None) -> float:
    """The pause before the next attempt: doubled each time, give or take a third, or Retry-After."""
    return max(first * 2 ** (attempt - 1) * random.uniform(2 / 3, 4 / 3), retry_after or 0)
