package amana

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Refusals that say by themselves that nothing was done.
var nothingDone = []string{"overloaded", "refunds_held"}

// isOpenAfter tells whether what was asked may have happened, after this answer and what was known
// before. What the API refuses before it looks at the Idempotency-Key says nothing about an
// earlier attempt.
func isOpenAfter(problem *ProblemError, wasOpen bool) bool {
	status, code := problem.Status, problem.Code
	if status == 409 && strings.HasSuffix(code, "_in_progress") {
		return true
	}
	if code != "" && slices.Contains([]int{404, 409, 422, 502}, status) {
		return false
	}
	return wasOpen || (status >= 500 && !slices.Contains(nothingDone, code))
}

// isWorthRepeating tells whether the same request may do better. repeatable: twice is once, as of
// a GET, or of a POST with its key. Whatever else can be sent again only where nobody has begun.
func isWorthRepeating(problem *ProblemError, repeatable bool) bool {
	switch status, code := problem.Status, problem.Code; {
	case status == 429:
		return true
	case !repeatable:
		return false
	case status == 502:
		// The API's own is final, and comes again under the same key.
		return code == ""
	default:
		return status == 500 || status == 503 || status == 504 || (status == 409 && code == "idempotency_in_progress")
	}
}

// pause is that before the next attempt: doubled each time, give or take a third, or Retry-After.
func pause(attempt int, first time.Duration, retryAfterSeconds int) time.Duration {
	grown := float64(first) * math.Pow(2, float64(attempt-1)) * (2 + 2*rand.Float64()) / 3
	return max(time.Duration(grown), time.Duration(retryAfterSeconds)*time.Second)
}
