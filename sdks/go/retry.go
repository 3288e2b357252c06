package amana

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Codes of responses after which the request certainly had no effect.
var codesWithoutEffect = []string{"overloaded", "refunds_held"}

// isOutcomeUnknownAfter returns whether the request may have taken effect. The result depends on
// this response and on whether the outcome was unknown before it. A rejection before the check of
// the Idempotency-Key does not change the outcome of earlier attempts.
func isOutcomeUnknownAfter(problem *ProblemError, wasUnknown bool) bool {
	status, code := problem.Status, problem.Code
	if status == 409 && strings.HasSuffix(code, "_in_progress") {
		return true
	}
	if code != "" && slices.Contains([]int{404, 409, 422, 502}, status) {
		return false
	}
	return wasUnknown || (status >= 500 && !slices.Contains(codesWithoutEffect, code))
}

// isWorthRepeating returns whether the same request may succeed when it is repeated. repeatable is
// true if a repetition has no second effect: for a GET, and for a POST with a key. Other requests
// are repeated only after 429.
func isWorthRepeating(problem *ProblemError, repeatable bool) bool {
	switch status, code := problem.Status, problem.Code; {
	case status == 429:
		return true
	case !repeatable:
		return false
	case status == 502:
		// A 502 of the API is final: the same key returns the same response.
		return code == ""
	default:
		return status == 500 || status == 503 || status == 504 || (status == 409 && code == "idempotency_in_progress")
	}
}

// pause returns the pause before the next attempt. It doubles with each attempt, varies by up to
// one third, and is at least Retry-After.
func pause(attempt int, first time.Duration, retryAfterSeconds int) time.Duration {
	grown := float64(first) * math.Pow(2, float64(attempt-1)) * (2 + 2*rand.Float64()) / 3
	return max(time.Duration(grown), time.Duration(retryAfterSeconds)*time.Second)
}
