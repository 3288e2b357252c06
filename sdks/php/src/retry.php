<?php

declare(strict_types=1);

namespace Amana;

/** @internal Decides which requests are repeated, and whether their outcome is unknown. */
final class Retry
{
    /** Codes of responses after which the request certainly had no effect. */
    private const CODES_WITHOUT_EFFECT = ['overloaded', 'refunds_held'];

    /**
     * Returns whether the request may have taken effect. The result depends on this response and on
     * whether the outcome was unknown before it. A rejection before the check of the
     * Idempotency-Key does not change the outcome of earlier attempts.
     */
    public static function isOutcomeUnknownAfter(Problem $problem, bool $wasUnknown): bool
    {
        if ($problem->status === 409 && str_ends_with($problem->code, '_in_progress')) {
            return true;
        }
        if ($problem->code !== '' && in_array($problem->status, [404, 409, 422, 502], true)) {
            return false;
        }
        return $wasUnknown || ($problem->status >= 500 && !in_array($problem->code, self::CODES_WITHOUT_EFFECT, true));
    }

    /**
     * Returns whether the same request may succeed when it is repeated. $repeatable is true if a
     * repetition has no second effect: for a GET, and for a POST with a key. Other requests are
     * repeated only after 429.
     */
    public static function isWorthRepeating(Problem $problem, bool $repeatable): bool
    {
        if ($problem->status === 429) {
            return true;
        }
        if (!$repeatable) {
            return false;
        }
        // A 502 of the API is final: the same key returns the same response.
        if ($problem->status === 502) {
            return $problem->code === '';
        }
        return in_array($problem->status, [500, 503, 504], true)
            || ($problem->status === 409 && $problem->code === 'idempotency_in_progress');
    }

    /**
     * Returns the pause before the next attempt. It doubles with each attempt, varies by up to one
     * third, and is at least Retry-After.
     */
    public static function pauseSeconds(int $attempt, float $first, ?int $retryAfter): float
    {
        return max($first * 2 ** ($attempt - 1) * random_int(667, 1333) / 1000, $retryAfter ?? 0);
    }
}
