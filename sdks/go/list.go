package amana

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"
)

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	// Total is the number of items in the list, at most 1000.
	Total  int
	IsLast bool
}

// List is a list, newest first. Items that are created during an iteration shift the pages, so an
// item may occur twice. To prevent this, pass a created_to in the past.
type List[T any] struct {
	transport *transport
	path      string
	query     Params
}

// Page reads a page at the offset. Its size is the limit of the query.
func (l *List[T]) Page(ctx context.Context, offset int) (*Page[T], error) {
	query := maps.Clone(l.query)
	if offset > 0 {
		if query == nil {
			query = Params{}
		}
		query["offset"] = offset
	}
	var items []T
	headers, err := l.transport.send(ctx, request{method: "GET", path: l.path, query: query, result: &items})
	if err != nil {
		return nil, err
	}
	total, err := strconv.Atoi(headers.Get("X-Total-Count"))
	if err != nil {
		total = len(items)
	}
	link := strings.Join(headers.Values("Link"), ",")
	isLast := !strings.Contains(link, `rel="next"`) && !strings.Contains(link, "rel=next")
	return &Page[T]{items, total, isLast}, nil
}

// All returns the items. It reads each page when it is needed, and ends after the first error.
func (l *List[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		// The offset may be an integer of any type. The API rejects other values in the first request.
		offset, _ := strconv.Atoi(fmt.Sprint(l.query["offset"]))
		for {
			page, err := l.Page(ctx, offset)
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.IsLast || len(page.Items) == 0 {
				return
			}
			offset += len(page.Items)
		}
	}
}
