<?php

declare(strict_types=1);

namespace Amana;

/**
 * Thrown if a webhook is not genuine. Respond with status 400 and discard the webhook. The message
 * contains the reason.
 */
final class WebhookRefused extends \RuntimeException
{
}

/**
 * A verified webhook. $id is the id of the event. All deliveries of an event have the same id.
 * Ignore an id that you have processed.
 */
final class Webhook
{
    /** @param array<string, mixed> $body */
    private function __construct(
        public readonly string $id,
        public readonly string $event,
        public readonly array $body,
    ) {
    }

    /**
     * Verifies webhook-signature for the raw request body. Throws WebhookRefused, or
     * InvalidArgumentException for an invalid secret. $toleranceSeconds is the maximum difference
     * between the timestamp and the clock of this machine.
     *
     * @param array<string, string> $headers names in upper or lower case
     * @param list<string> $secrets webhook secrets (whsec_…); both during a rotation
     */
    public static function verify(
        array $headers,
        string $body,
        array $secrets,
        int $toleranceSeconds = 300,
        ?int $now = null,
    ): self {
        $keys = self::keysOf($secrets);
        $headers = array_change_key_case($headers);
        [$id, $timestamp, $received] = array_map(
            fn (string $name) => (string) ($headers["webhook-$name"] ?? ''),
            ['id', 'timestamp', 'signature'],
        );
        if ($id === '' || $received === '' || !preg_match('/^\d{1,15}$/D', $timestamp)) {
            throw new WebhookRefused('webhook headers are missing');
        }
        $hasMatch = false;
        foreach ($keys as $secret) {
            $key = (string) base64_decode(substr($secret, strlen('whsec_')), true);
            $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
            foreach (explode(' ', $received) as $candidate) {
                $hasMatch = hash_equals($expected, $candidate) || $hasMatch;
            }
        }
        if (!$hasMatch) {
            throw new WebhookRefused('no signature matches');
        }
        if (abs(($now ?? time()) - (int) $timestamp) > $toleranceSeconds) {
            throw new WebhookRefused('the timestamp is outside the tolerance');
        }
        $parsed = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        return new self($id, (string) $parsed['event'], $parsed);
    }

    /**
     * Verifies X-Signature. This signature does not cover the time, so prefer `verify`. Throws the
     * same errors as `verify`.
     *
     * @param array<string, string> $headers names in upper or lower case
     * @param list<string> $secrets
     */
    public static function verifyXSignature(array $headers, string $body, array $secrets): void
    {
        $received = (string) (array_change_key_case($headers)['x-signature'] ?? '');
        foreach (self::keysOf($secrets) as $secret) {
            if (hash_equals('sha256=' . hash_hmac('sha256', $body, $secret), $received)) {
                return;
            }
        }
        throw new WebhookRefused('X-Signature does not match');
    }

    /**
     * Rejects invalid secrets, because any sender could sign with an empty secret.
     *
     * @param list<string> $secrets
     * @return list<string>
     */
    private static function keysOf(array $secrets): array
    {
        $isSecret = fn ($secret) => is_string($secret) && preg_match('~^whsec_[A-Za-z0-9+/]{43}=$~D', $secret);
        if ($secrets === [] || count(array_filter($secrets, $isSecret)) < count($secrets)) {
            throw new \InvalidArgumentException('each secret must be whsec_ followed by 44 characters, as shown for the endpoint');
        }
        return $secrets;
    }
}
