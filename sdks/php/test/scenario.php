<?php

/** Runs sdks/scenario.json with this library and prints a line with the result of each step. */

declare(strict_types=1);

use Amana\Amana;
use Amana\ConnectionError;
use Amana\ProblemError;
use Amana\Webhook;
use Amana\WebhookRefused;

require __DIR__ . '/../src/amana.php';

$scenario = json_decode(file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR);
$values = getenv() + $scenario['values'];

/**
 * Replaces ${NAME} with its value and ${NAME/} with the last segment of a path. A text that is
 * only ${NAME} may become a value of any type.
 */
function fill(mixed $value): mixed
{
    global $values;
    if (is_array($value)) {
        return array_map('fill', $value);
    }
    if (!is_string($value)) {
        return $value;
    }
    if (preg_match('/^\$\{(\w+)\}$/D', $value, $placeholder)) {
        return $values[$placeholder[1]] ?? null;
    }
    return preg_replace_callback('~\$\{(\w+)(/?)\}~', function (array $placeholder): string {
        global $values;
        $text = (string) ($values[$placeholder[1]] ?? '');
        if ($placeholder[2] !== '/') {
            return $text;
        }
        $path = strtok($text, '?');
        return substr($path, strrpos($path, '/') + 1);
    }, $value);
}

function http(string $method, string $url, mixed $body = null): array
{
    $options = ['method' => $method, 'header' => 'Content-Type: application/json', 'timeout' => 60];
    $content = $body === null ? [] : ['content' => json_encode($body)];
    return json_decode(file_get_contents($url, false, stream_context_create(['http' => $options + $content])), true);
}

function run(array $step): array
{
    global $scenario;
    if (isset($step['http'])) {
        return http($step['http'], $step['url'], $step['body'] ?? null);
    }
    if ($signed = $step['verify'] ?? $step['verifyXSignature'] ?? null) {
        $delivery = isset($signed['url']) ? http('GET', $signed['url']) : $signed;
        if (isset($step['verifyXSignature'])) {
            Webhook::verifyXSignature($delivery['headers'], $delivery['body'], $signed['secrets']);
            return [];
        }
        return Webhook::verify($delivery['headers'], $delivery['body'], $signed['secrets'], now: $signed['now'] ?? null)->body;
    }
    $settings = $scenario['client'];
    $client = fill($scenario['clients'][$step['as']]);
    $amana = new Amana(
        $client['baseUrl'],
        $client['apiKey'],
        $settings['timeoutSeconds'],
        $settings['retries'],
        $settings['retryPauseSeconds'],
        $client['allowHttp'] ?? false,
    );
    [$resource, $method] = explode('.', $step['do']);
    $options = isset($step['key']) ? ['idempotencyKey' => $step['key']] : [];
    $result = $amana->$resource->$method(...$step['args'], ...$options);
    return str_starts_with($method, 'list') ? ['count' => iterator_count($result->getIterator())] : $result ?? [];
}

function textOf(mixed $value): string
{
    return is_string($value ?? '-') ? $value ?? '-' : json_encode($value);
}

function resultOf(array $step, array $keep, array $show): string
{
    global $values;
    try {
        $result = run($step);
        foreach ($keep as $name => $field) {
            $values[$name] = $result[$field];
        }
        $fields = array_map(fn (string $name) => "$name=" . textOf($result[$name] ?? null), $show);
        return implode(' ', ['ok', ...$fields]);
    } catch (ConnectionError $error) {
        return 'no response' . ($error->outcomeUnknown ? ', outcome unknown' : '');
    } catch (ProblemError $error) {
        $problem = $error->problem;
        $places = array_map(fn (array $field) => ' ' . ($field['pointer'] ?? $field['parameter']), $problem->errors);
        sort($places);
        return "problem $problem->status $problem->code" . implode($places) . ($problem->requestId === null ? '' : ', request id')
            . ($error->outcomeUnknown ? ', outcome unknown' : '');
    } catch (WebhookRefused) {
        return 'refused';
    } catch (InvalidArgumentException) {
        return 'misuse';
    }
}

foreach ($scenario['steps'] as $step) {
    $request = fill(array_diff_key($step, ['keep' => 0, 'show' => 0, 'expect' => 0]));
    $result = resultOf($request, $step['keep'] ?? [], $step['show'] ?? []);
    echo $result === fill($step['expect']) ? '✓' : '✗', " {$step['what']}: $result\n";
}
