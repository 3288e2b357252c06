<?php

declare(strict_types=1);

namespace Amana;

/** Answer it with 400, and believe nothing that came. The message says why, for your log. */
final class WebhookRefused extends \RuntimeException
{
}

/** A webhook that is genuine. $id: the same on every delivery, to know what has been seen. */
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
     * Verifies webhook-signature over the body as it came, byte for byte. Throws WebhookRefused,
     * and InvalidArgumentException for what is no secret.
     *
     * @param array<string, string> $headers names in any case
     * @param list<string> $secrets two while they are changed
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
        [$id, $timestamp, $given] = array_map(
            fn (string $name) => (string) ($headers["webhook-$name"] ?? ''),
            ['id', 'timestamp', 'signature'],
        );
        if ($id === '' || $given === '' || !preg_match('/^\d{1,15}$/D', $timestamp)) {
            throw new WebhookRefused('webhook headers are missing');
        }
        $isGood = false;
        foreach ($keys as $secret) {
            $key = (string) base64_decode(substr($secret, strlen('whsec_')), true);
            $good = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
            foreach (explode(' ', $given) as $one) {
                $isGood = hash_equals($good, $one) || $isGood;
            }
        }
        if (!$isGood) {
            throw new WebhookRefused('no signature is good');
        }
        if (abs(($now ?? time()) - (int) $timestamp) > $toleranceSeconds) {
            throw new WebhookRefused('sent too long ago');
        }
        $parsed = json_decode($body, true, 512, JSON_THROW_ON_ERROR);
        return new self($id, (string) $parsed['event'], $parsed);
    }

    /**
     * Verifies X-Signature, which has no time in it: verify is better. Throws alike.
     *
     * @param array<string, string> $headers names in any case
     * @param list<string> $secrets
     */
    public static function verifyXSignature(array $headers, string $body, array $secrets): void
    {
        $given = (string) (array_change_key_case($headers)['x-signature'] ?? '');
        foreach (self::keysOf($secrets) as $secret) {
            if (hash_equals('sha256=' . hash_hmac('sha256', $body, $secret), $given)) {
                return;
            }
        }
        throw new WebhookRefused('X-Signature is not good');
    }

    /**
     * An empty secret would be a key that everybody has.
     *
     * @param list<string> $secrets
     * @return list<string>
     */
    private static function keysOf(array $secrets): array
    {
        $isSecret = fn ($secret) => is_string($secret) && preg_match('~^whsec_[A-Za-z0-9+/]{43}=$~D', $secret);
        if ($secrets === [] || count(array_filter($secrets, $isSecret)) < count($secrets)) {
            throw new \InvalidArgumentException('secrets must be those that the endpoint was given: whsec_ and 44 characters');
        }
        return $secrets;
    }
}
