package amana

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Error codes that prove that the request had no effect.
var codesWithoutEffect = []string{"overloaded", "refunds_held"}

// isOutcomeUnknownAfter returns true if the request may have taken effect. wasUnknown is the result
// for the earlier attempts. It stays valid if the API rejected this attempt before it checked the
// Idempotency-Key.
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

// isWorthRepeating returns true if a repetition of the request may succeed after this response.
// repeatable must be true for a GET and for a POST with a key, because their repetition has no
// second effect. For other requests, it returns true only for status 429.
func isWorthRepeating(problem *ProblemError, repeatable bool) bool {
	switch status, code := problem.Status, problem.Code; {
	case status == 429:
		return true
	case !repeatable:
		return false
	case status == 502:
		// Status 502 with a code comes from the API. It is final, because the same key returns the
		// same response.
		return code == ""
	default:
		return status == 500 || status == 503 || status == 504 || (status == 409 && code == "idempotency_in_progress")
	}
}

// pause returns the pause before the next attempt. The pause doubles with each attempt, varies by
// up to one third, and is never shorter than Retry-After.
func pause(attempt int, first time.Duration, retryAfterSeconds int) time.Duration {
	grown := float64(first) * math.Pow(2, float64(attempt-1)) * (2 + 2*rand.Float64()) / 3
	return max(time.Duration(grown), time.Duration(retryAfterSeconds)*time.Second)
}
