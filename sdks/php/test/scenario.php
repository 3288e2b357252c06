<?php

/** Tells sdks/scenario.json with this library: one line for each step, what was seen. */

declare(strict_types=1);

use Amana\Amana;
use Amana\ConnectionError;
use Amana\ProblemError;
use Amana\Webhook;
use Amana\WebhookRefused;

require __DIR__ . '/../src/amana.php';

$scenario = json_decode(file_get_contents($argv[1]), true, 512, JSON_THROW_ON_ERROR);
$values = getenv() + $scenario['values'];

/** Puts values in; ${NAME/} is the last part of a path, a whole text may become a value. */
function fill(mixed $value): mixed
{
    global $values;
    if (is_array($value)) {
        return array_map('fill', $value);
    }
    if (!is_string($value)) {
        return $value;
    }
    if (preg_match('/^\$\{(\w+)\}$/D', $value, $found)) {
        return $values[$found[1]] ?? null;
    }
    return preg_replace_callback('~\$\{(\w+)(/?)\}~', function (array $found): string {
        global $values;
        $text = (string) ($values[$found[1]] ?? '');
        $text = $found[2] === '/' ? strtok($text, '?') : $text;
        return $found[2] === '/' ? substr($text, strrpos($text, '/') + 1) : $text;
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
        $came = isset($signed['url']) ? http('GET', $signed['url']) : $signed;
        if (isset($step['verifyXSignature'])) {
            Webhook::verifyXSignature($came['headers'], $came['body'], $signed['secrets']);
            return [];
        }
        return Webhook::verify($came['headers'], $came['body'], $signed['secrets'], now: $signed['now'] ?? null)->body;
    }
    $how = $scenario['client'];
    $who = fill($scenario['clients'][$step['as']]);
    $amana = new Amana(
        $who['baseUrl'],
        $who['apiKey'],
        $how['timeoutSeconds'],
        $how['retries'],
        $how['retryPauseSeconds'],
        $who['allowHttp'] ?? false,
    );
    [$resource, $method] = explode('.', $step['do']);
    $key = isset($step['key']) ? ['idempotencyKey' => $step['key']] : [];
    $result = $amana->$resource->$method(...$step['args'], ...$key);
    return str_starts_with($method, 'list') ? ['count' => iterator_count($result->getIterator())] : $result ?? [];
}

function tell(array $step, array $keep, array $show): string
{
    global $values;
    try {
        $result = run($step);
        foreach ($keep as $name => $field) {
            $values[$name] = $result[$field];
        }
        $shown = fn (string $name) => "$name=" . (is_string($result[$name] ?? '-') ? $result[$name] ?? '-' : json_encode($result[$name]));
        return implode(' ', ['ok', ...array_map($shown, $show)]);
    } catch (ConnectionError $error) {
        return 'no answer' . ($error->outcomeUnknown ? ', outcome unknown' : '');
    } catch (ProblemError $error) {
        $problem = $error->problem;
        $places = array_map(fn (array $one) => ' ' . ($one['pointer'] ?? $one['parameter']), $problem->errors);
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
    $told = tell(fill(array_diff_key($step, ['keep' => 0, 'show' => 0, 'expect' => 0])), $step['keep'] ?? [], $step['show'] ?? []);
    echo $told === fill($step['expect']) ? '✓' : '✗', " {$step['what']}: $told\n";
}
