<?php

declare(strict_types=1);

namespace Amana;

/** What a call throws: the API's ProblemError, or a ConnectionError without an answer. */
abstract class AmanaError extends \RuntimeException
{
    /**
     * $outcomeUnknown: what was asked may have happened. Then it has not failed: send the same
     * again with this $idempotencyKey, or read, before anything else is done about it.
     * $idempotencyKey: of a POST, also one that the client made.
     */
    public function __construct(
        string $message,
        public readonly bool $outcomeUnknown,
        public readonly ?string $idempotencyKey,
    ) {
        parent::__construct($message);
    }
}

/** No connection, a broken one, an answer that could not be read, or the time was over. */
final class ConnectionError extends AmanaError
{
}

/** An answer that is no success (RFC 9457). */
final class Problem
{
    /**
     * $code: stable, decide by it; empty when something between here and the API answered.
     *
     * @param list<array{pointer?: string, parameter?: string, code: string, message: string}> $errors
     * @param array<string, mixed> $members those of certain codes too, such as payment_status
     */
    public function __construct(
        public readonly int $status,
        public readonly string $code,
        public readonly string $detail,
        public readonly array $errors,
        public readonly ?string $requestId,
        public readonly ?int $retryAfter,
        public readonly array $members,
    ) {
    }

    /**
     * Only the API writes problem documents: what a proxy says is no word of the API.
     *
     * @param array<string, string> $headers
     */
    public static function of(int $status, array $headers, string $text): self
    {
        $isOurs = str_starts_with($headers['content-type'] ?? '', 'application/problem+json');
        $parsed = $isOurs ? json_decode($text, true) : null;
        $members = is_array($parsed) ? $parsed : [];
        $seconds = $headers['retry-after'] ?? '';
        return new self(
            $status,
            (string) ($members['code'] ?? ''),
            (string) ($members['detail'] ?? 'not an answer of the API'),
            $members['errors'] ?? [],
            $members['request_id'] ?? $headers['x-request-id'] ?? null,
            ctype_digit($seconds) ? (int) $seconds : null,
            $members,
        );
    }
}

final class ProblemError extends AmanaError
{
    public function __construct(public readonly Problem $problem, bool $outcomeUnknown, ?string $idempotencyKey)
    {
        parent::__construct("$problem->status $problem->code: $problem->detail", $outcomeUnknown, $idempotencyKey);
    }
}
