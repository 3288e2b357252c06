<?php

declare(strict_types=1);

namespace Amana;

/** @internal What is repeated, and what is known after an answer. */
final class Retry
{
    /** Refusals that say by themselves that nothing was done. */
    private const NOTHING_DONE = ['overloaded', 'refunds_held'];

    /**
     * Whether what was asked may have happened, after this answer and what was known before. What
     * the API refuses before it looks at the Idempotency-Key says nothing about an earlier attempt.
     */
    public static function isOpenAfter(Problem $problem, bool $wasOpen): bool
    {
        if ($problem->status === 409 && str_ends_with($problem->code, '_in_progress')) {
            return true;
        }
        if ($problem->code !== '' && in_array($problem->status, [404, 409, 422, 502], true)) {
            return false;
        }
        return $wasOpen || ($problem->status >= 500 && !in_array($problem->code, self::NOTHING_DONE, true));
    }

    /**
     * Whether the same request may do better. $repeatable: twice is once, as of a GET, or of a
     * POST with its key. Whatever else can be sent again only where nobody has begun with it.
     */
    public static function isWorthRepeating(Problem $problem, bool $repeatable): bool
    {
        if ($problem->status === 429) {
            return true;
        }
        if (!$repeatable) {
            return false;
        }
        // The API's own 502 is final, and comes again under the same key.
        if ($problem->status === 502) {
            return $problem->code === '';
        }
        return in_array($problem->status, [500, 503, 504], true)
            || ($problem->status === 409 && $problem->code === 'idempotency_in_progress');
    }

    /** Before the next attempt: doubled each time, give or take a third, or Retry-After. */
    public static function pauseSeconds(int $attempt, float $first, ?int $retryAfter): float
    {
        return max($first * 2 ** ($attempt - 1) * random_int(667, 1333) / 1000, $retryAfter ?? 0);
    }
}
