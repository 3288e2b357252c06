<?php

declare(strict_types=1);

namespace Amana;

/** @internal Decides which requests are repeated, and whether their outcome is unknown. */
final class Retry
{
    /** Error codes that prove that the request had no effect. */
    private const CODES_WITHOUT_EFFECT = ['overloaded', 'refunds_held'];

    /**
     * Returns true if the request may have taken effect. $wasUnknown is the result for the earlier
     * attempts. It stays valid if the API rejected this attempt before it checked the
     * Idempotency-Key.
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
     * Returns true if a repetition of the request may succeed after this response. $repeatable must
     * be true for a GET and for a POST with a key, because their repetition has no second effect.
     * For other requests, returns true only for status 429.
     */
    public static function isWorthRepeating(Problem $problem, bool $repeatable): bool
    {
        if ($problem->status === 429) {
            return true;
        }
        if (!$repeatable) {
            return false;
        }
        // Status 502 with a code comes from the API. It is final, because the same key returns the
        // same response.
        if ($problem->status === 502) {
            return $problem->code === '';
        }
        return in_array($problem->status, [500, 503, 504], true)
            || ($problem->status === 409 && $problem->code === 'idempotency_in_progress');
    }

    /**
     * Returns the pause before the next attempt. The pause doubles with each attempt, varies by up
     * to one third, and is never shorter than Retry-After.
     */
    public static function pauseSeconds(int $attempt, float $first, ?int $retryAfter): float
    {
        return max($first * 2 ** ($attempt - 1) * random_int(667, 1333) / 1000, $retryAfter ?? 0);
    }
}
