<?php

declare(strict_types=1);

namespace Amana;

/** Base class of all errors of requests. Subclasses are ProblemError and ConnectionError. */
abstract class AmanaError extends \RuntimeException
{
    /**
     * $outcomeUnknown is true if the request may have taken effect or may still take effect. Do not
     * treat such a request as failed. Repeat it with this $idempotencyKey, or read the resource
     * first. $idempotencyKey is the Idempotency-Key of a POST, even if the client generated it.
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
 * Thrown if the connection failed or broke, if the response was unreadable, or if the time limit
 * passed.
 */
final class ConnectionError extends AmanaError
{
}

/** An error response (RFC 9457). */
final class Problem
{
    /**
     * $code is the stable code of the problem, for use in your program. It is empty if the response
     * did not come from the API. $requestId identifies the request in support cases. $retryAfter is
     * the number of seconds until the request can be repeated.
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
     * Reads a problem document. For any other body, the returned problem has an empty code, because
     * only the API sends problem documents.
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
