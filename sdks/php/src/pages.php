<?php

declare(strict_types=1);

namespace Amana;

/** One page of a list. $total: the number of items of the list, up to 1000; a longer list has 1000 here. */
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
 * A list, newest first: foreach reads page after page as they are needed. What is created meanwhile
 * moves the pages on, so that one may come twice; a created_to in the past prevents it.
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

    /** One page: at the query's offset, of limit items. */
    public function page(?int $offset = null): Page
    {
        $query = $offset === null ? $this->query : ['offset' => $offset] + $this->query;
        $answer = $this->transport->send('GET', $this->path, query: $query);
        $total = (int) ($answer->headers['x-total-count'] ?? count($answer->body));
        return new Page($answer->body, $total, !preg_match('/rel="?next"?/', $answer->headers['link'] ?? ''));
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
