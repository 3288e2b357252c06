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
	// Total is the number of items of the list, up to 1000; a longer list has 1000 here.
	Total  int
	IsLast bool
}

// List is a list, newest first. What is created while it is read moves the pages on, so that one
// may come twice; a created_to in the past prevents it.
type List[T any] struct {
	transport *transport
	path      string
	query     Params
}

// Page reads the page at this offset.
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

// All reads page after page as they are needed. An error is the last that comes.
func (l *List[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		// Of any type of number, as long as it is a whole one; of anything else the API says so.
		offset, _ := strconv.Atoi(fmt.Sprint(l.query["offset"]))
		for {
			page, err := l.Page(ctx, offset)
			if err != nil {
				var none T
				yield(none, err)
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
