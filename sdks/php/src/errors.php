<?php

declare(strict_types=1);

namespace Amana;

/** Base of the thrown errors: ProblemError (error response), ConnectionError (no response). */
abstract class AmanaError extends \RuntimeException
{
    /**
     * $outcomeUnknown: whether the request may have taken effect, or may still do so. Do not treat
     * it as failed: repeat the same request with this $idempotencyKey, or read the resource first.
     * $idempotencyKey: the Idempotency-Key of a POST, also if the client generated it.
     */
    public function __construct(
        string $message,
        public readonly bool $outcomeUnknown,
        public readonly ?string $idempotencyKey,
    ) {
        parent::__construct($message);
    }
}

/**
 * No response: the connection failed or broke, the response was unreadable, or the time limit
 * passed.
 */
final class ConnectionError extends AmanaError
{
}

/** An error response (RFC 9457). */
final class Problem
{
    /**
     * $code: stable code of the problem, for use in your program; empty if the response did not come
     * from the API.
     * $requestId: identifies the request in support cases.
     * $retryAfter: seconds until the request can be repeated.
     *
     * @param list<array{pointer?: string, parameter?: string, code: string, message: string}> $errors
     * @param array<string, mixed> $members all members of the response, also those that only some codes have, such as payment_status
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
     * Reads a problem document. Only the API sends such documents, so the problem of any other body
     * has an empty code.
     *
     * @param array<string, string> $headers
     */
    public static function of(int $status, array $headers, string $text): self
    {
        $isProblemDocument = str_starts_with($headers['content-type'] ?? '', 'application/problem+json');
        $parsed = $isProblemDocument ? json_decode($text, true) : null;
        $members = is_array($parsed) ? $parsed : [];
        $seconds = $headers['retry-after'] ?? '';
        return new self(
            $status,
            (string) ($members['code'] ?? ''),
            (string) ($members['detail'] ?? 'the response is not from the API'),
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
