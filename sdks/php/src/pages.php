<?php

declare(strict_types=1);

namespace Amana;

/** One page of a list. $total is the number of items in the whole list, at most 1000. */
final class Page
{
    /** @param list<array<string, mixed>> $items */
    public function __construct(
        public readonly array $items,
        public readonly int $total,
        public readonly bool $isLast,
    ) {
    }
}

/**
 * A list, newest first. `foreach` reads each page when it is needed. Items that are created during
 * an iteration shift the pages, so an item may occur twice. To prevent this, pass a created_to in
 * the past.
 *
 * @implements \IteratorAggregate<int, array<string, mixed>>
 */
final class Pages implements \IteratorAggregate
{
    /**
     * @internal
     * @param array<string, mixed> $query
     */
    public function __construct(
        private readonly Transport $transport,
        private readonly string $path,
        private readonly array $query,
    ) {
    }

    /** Reads a page of `limit` items, by default at the `offset` of the query. */
    public function page(?int $offset = null): Page
    {
        $query = $offset === null ? $this->query : ['offset' => $offset] + $this->query;
        $response = $this->transport->send('GET', $this->path, query: $query);
        $total = (int) ($response->headers['x-total-count'] ?? count($response->body));
        return new Page($response->body, $total, !preg_match('/rel="?next"?/', $response->headers['link'] ?? ''));
    }

    /** @return \Generator<int, array<string, mixed>> */
    public function getIterator(): \Generator
    {
        $offset = (int) ($this->query['offset'] ?? 0);
        do {
            $page = $this->page($offset === 0 ? null : $offset);
            foreach ($page->items as $item) {
                yield $offset++ => $item;
            }
        } while (!$page->isLast && $page->items !== []);
    }
}
