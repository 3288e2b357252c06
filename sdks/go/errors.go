// Package amana is the API of Amana for servers of businesses. It needs nothing but Go.
package amana

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// FieldError is what is wrong with one field of the body (Pointer) or one query parameter.
type FieldError struct {
	Pointer   string `json:"pointer,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	Code      string `json:"code"`
	Message   string `json:"message"`
}

// ProblemError is an answer that is no success (RFC 9457).
type ProblemError struct {
	Status int
	// Code is stable: decide by it. Empty when something between here and the API answered.
	Code   string
	Detail string
	Errors []FieldError
	// RequestID is for support.
	RequestID string
	// RetryAfterSeconds is 0 when the answer has none.
	RetryAfterSeconds int
	// Members are all of them, those of certain codes too, such as payment_status.
	Members map[string]json.RawMessage
	// OutcomeUnknown says that what was asked may have happened. Then it has not failed: send the
	// same again with this IdempotencyKey, or read, before anything else is done about it.
	OutcomeUnknown bool
	// IdempotencyKey is that of a POST, also one that the client made.
	IdempotencyKey string
}

func (e *ProblemError) Error() string {
	return fmt.Sprintf("amana: %d %s: %s", e.Status, e.Code, e.Detail)
}

// ConnectionError is no connection, a broken one, an answer that could not be read, or the end of
// the time.
type ConnectionError struct {
	// OutcomeUnknown and IdempotencyKey are as in ProblemError.
	OutcomeUnknown bool
	IdempotencyKey string
	Cause          error
}

func (e *ConnectionError) Error() string { return fmt.Sprintf("amana: no answer: %v", e.Cause) }
func (e *ConnectionError) Unwrap() error { return e.Cause }

// OutcomeUnknown tells of any error whether what was asked may have happened.
func OutcomeUnknown(err error) bool {
	var problem *ProblemError
	var connection *ConnectionError
	return (errors.As(err, &problem) && problem.OutcomeUnknown) ||
		(errors.As(err, &connection) && connection.OutcomeUnknown)
}

// problemOf: only the API writes problem documents; what a proxy says is no word of the API.
func problemOf(status int, headers http.Header, text []byte) *ProblemError {
	var known struct {
		Code      string       `json:"code"`
		Detail    string       `json:"detail"`
		RequestID string       `json:"request_id"`
		Errors    []FieldError `json:"errors"`
	}
	problem := &ProblemError{Status: status, Detail: "not an answer of the API", RequestID: headers.Get("X-Request-Id")}
	isOurs := strings.HasPrefix(headers.Get("Content-Type"), "application/problem+json")
	if isOurs && json.Unmarshal(text, &known) == nil && json.Unmarshal(text, &problem.Members) == nil {
		problem.Code, problem.Detail, problem.Errors = known.Code, known.Detail, known.Errors
		if known.RequestID != "" {
			problem.RequestID = known.RequestID
		}
	}
	if seconds, err := strconv.Atoi(headers.Get("Retry-After")); err == nil && seconds >= 0 {
		problem.RetryAfterSeconds = seconds
	}
	return problem
}
