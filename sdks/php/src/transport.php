<?php

declare(strict_types=1);

namespace Amana;

/** @internal */
final class Response
{
    /** @param array<string, string> $headers */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $text,
        public readonly mixed $body,
    ) {
    }
}

/** @internal There is no response. $reached is true if the request may have taken effect. */
final class NoResponse extends \RuntimeException
{
    public function __construct(string $message, public readonly bool $reached)
    {
        parent::__construct($message);
    }
}

/** @internal Sends requests, and repeats them after failures that may be temporary. */
final class Transport
{
    /**
     * Longest Retry-After for which the client waits. If Retry-After is longer, the client throws
     * the error at once.
     */
    private const RETRY_AFTER_SECONDS_MAX = 60;
    private const ENCRYPTED_OR_LOOPBACK =
        '~^(https:|http://(([a-z0-9-]+\.)*localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?(/|$))~iD';
    /** Error codes that mean that no connection was established. The request then had no effect. */
    private const NOT_REACHED = [CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT];

    public function __construct(
        private readonly string $baseUrl,
        #[\SensitiveParameter] private readonly string $apiKey,
        private readonly float $timeout,
        private readonly int $retries,
        private readonly float $retryPause,
        bool $allowHttp,
    ) {
        if (!preg_match('/^[\x21-\x7e]+$/D', $apiKey)) {
            throw new \InvalidArgumentException('apiKey must be a text of visible ASCII characters');
        }
        if (!preg_match('~^https?://[^/?#@\s]+(/[^?#\s]*)?$~D', $baseUrl)) {
            throw new \InvalidArgumentException('baseUrl must be a URL like https://api.example');
        }
        if (!$allowHttp && !preg_match(self::ENCRYPTED_OR_LOOPBACK, $baseUrl)) {
            throw new \InvalidArgumentException(
                'baseUrl must begin with https://, because http:// sends the key unencrypted; set allowHttp to permit it',
            );
        }
    }

    /**
     * Sends a request.
     *
     * @param array<string, mixed>|null $query
     * @param array<string, mixed>|null $body
     * @throws ProblemError
     * @throws ConnectionError
     */
    public function send(
        string $method,
        string $path,
        ?array $query = null,
        ?array $body = null,
        ?string $idempotencyKey = null,
        bool $redirects = false,
    ): Response {
        $key = $method === 'POST' ? $idempotencyKey ?? bin2hex(random_bytes(16)) : null;
        if (!preg_match('/^[\x21-\x7e]{1,255}$/D', $key ?? '-')) {
            throw new \InvalidArgumentException('idempotencyKey must be 1 to 255 visible ASCII characters');
        }
        // Encodes the body only once, so that each attempt sends the same bytes.
        $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES;
        $text = $body === null ? null : json_encode((object) $body, $flags);
        $repeatable = in_array($method, ['GET', 'POST'], true);
        $outcomeUnknown = false;
        for ($attempt = 1; ; $attempt++) {
            $retryAfter = null;
            try {
                $response = $this->attempt($method, $path . self::queryOf($query ?? []), $text, $key);
                if ($redirects ? $response->status === 303 : $response->status >= 200 && $response->status < 300) {
                    return $response;
                }
                $problem = Problem::of($response->status, $response->headers, $response->text);
                $outcomeUnknown = $method !== 'GET' && Retry::isOutcomeUnknownAfter($problem, $outcomeUnknown);
                $retryAfter = $problem->retryAfter;
                $canRepeat = Retry::isWorthRepeating($problem, $repeatable) && ($retryAfter ?? 0) <= self::RETRY_AFTER_SECONDS_MAX;
                if (!$canRepeat || $attempt > $this->retries) {
                    throw new ProblemError($problem, $outcomeUnknown, $key);
                }
            } catch (NoResponse $failure) {
                $outcomeUnknown = $outcomeUnknown || ($failure->reached && $method !== 'GET');
                $canRepeat = $repeatable || !$failure->reached;
                if (!$canRepeat || $attempt > $this->retries) {
                    throw new ConnectionError("No response: {$failure->getMessage()}", $outcomeUnknown, $key);
                }
            }
            usleep((int) (Retry::pauseSeconds($attempt, $this->retryPause, $retryAfter) * 1e6));
        }
    }

    private function attempt(string $method, string $path, ?string $text, ?string $key): Response
    {
        $headers = ["Authorization: Bearer $this->apiKey", 'Accept: application/json', 'Expect:'];
        if ($text !== null) {
            $headers[] = 'Content-Type: application/json';
        } elseif ($method === 'POST') {
            $headers[] = 'Content-Length: 0';
        }
        if ($key !== null) {
            $headers[] = "Idempotency-Key: $key";
        }
        $receivedHeaders = [];
        $curl = curl_init();
        curl_setopt_array($curl, [
            CURLOPT_URL => rtrim($this->baseUrl, '/') . $path,
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_USERAGENT => 'amana-php/0.1.0',
            CURLOPT_RETURNTRANSFER => true,
            // A redirect must not be followed, because the client would send the key to another
            // server and turn a POST into a GET.
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_PATH_AS_IS => true,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS,
            CURLOPT_TIMEOUT_MS => (int) ($this->timeout * 1000),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$receivedHeaders): int {
                // The response of a proxy may precede the response of the API.
                $receivedHeaders = str_starts_with($line, 'HTTP/') ? [] : $receivedHeaders;
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $receivedHeaders[strtolower($name)] = trim($value);
                return strlen($line);
            },
        ] + ($text === null ? [] : [CURLOPT_POSTFIELDS => $text]));
        $received = curl_exec($curl);
        if (!is_string($received)) {
            throw new NoResponse(curl_error($curl), !in_array(curl_errno($curl), self::NOT_REACHED, true));
        }
        $status = (int) curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        $body = null;
        if ($status >= 200 && $status < 300 && $status !== 204) {
            try {
                $body = json_decode($received, true, 512, JSON_THROW_ON_ERROR);
            } catch (\JsonException $error) {
                throw new NoResponse('the response is not JSON', true);
            }
        }
        return new Response($status, $receivedHeaders, $received, $body);
    }

    /** @param array<string, mixed> $query */
    private static function queryOf(array $query): string
    {
        $texts = array_map(fn ($value) => is_bool($value) ? ($value ? 'true' : 'false') : $value, $query);
        $text = http_build_query($texts, '', '&', PHP_QUERY_RFC3986);
        return $text === '' ? '' : "?$text";
    }

    /** Encodes an id for a path. Rejects the ids "", "." and "..", which would change the path. */
    public static function segment(string $value): string
    {
        if (preg_match('/^\.{0,2}$/D', $value)) {
            throw new \InvalidArgumentException("'$value' is not a valid id");
        }
        return rawurlencode($value);
    }
}

/** @internal Base of the generated resources. */
abstract class Resource
{
    public function __construct(private readonly Transport $transport)
    {
    }

    /** @param array<string, mixed>|null $body */
    protected function call(string $method, string $path, ?array $body = null, ?string $idempotencyKey = null): mixed
    {
        return $this->transport->send($method, $path, body: $body, idempotencyKey: $idempotencyKey)->body;
    }

    /** @param array<string, mixed> $query */
    protected function pages(string $path, array $query): Pages
    {
        return new Pages($this->transport, $path, $query);
    }

    /** @return array{location: string} */
    protected function redirect(string $method, string $path): array
    {
        $response = $this->transport->send($method, $path, redirects: true);
        return ['location' => $response->headers['location'] ?? ''];
    }
}
