// Package amana is the client library of the Amana API for servers of businesses. It has no
// dependencies.
package amana

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// FieldError is an error in a field of the body (Pointer) or in a query parameter (Parameter).
type FieldError struct {
	Pointer   string `json:"pointer,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	Code      string `json:"code"`
	Message   string `json:"message"`
}

// ProblemError is an error response (RFC 9457).
type ProblemError struct {
	Status int
	// Code is the stable code of the problem, for use in your program. It is empty if the response
	// did not come from the API.
	Code   string
	Detail string
	Errors []FieldError
	// RequestID identifies the request in support cases.
	RequestID string
	// RetryAfterSeconds is the time until the request can be repeated. It is 0 if the response has
	// no Retry-After.
	RetryAfterSeconds int
	// Members are all members of the response. They include members that only some codes have, such
	// as payment_status.
	Members map[string]json.RawMessage
	// OutcomeUnknown is true if the request may have taken effect or may still take effect. Do not
	// treat such a request as failed. Repeat it with this IdempotencyKey, or read the resource first.
	OutcomeUnknown bool
	// IdempotencyKey is the Idempotency-Key of a POST, even if the client generated the key.
	IdempotencyKey string
}

func (e *ProblemError) Error() string {
	return fmt.Sprintf("amana: %d %s: %s", e.Status, e.Code, e.Detail)
}

// ConnectionError means that the connection failed or broke, that the response was unreadable, or
// that the time limit passed.
type ConnectionError struct {
	// OutcomeUnknown and IdempotencyKey have the same meaning as in ProblemError.
	OutcomeUnknown bool
	IdempotencyKey string
	Cause          error
}

func (e *ConnectionError) Error() string { return fmt.Sprintf("amana: no response: %v", e.Cause) }
func (e *ConnectionError) Unwrap() error { return e.Cause }

// OutcomeUnknown returns true if the request that failed with err may have taken effect.
func OutcomeUnknown(err error) bool {
	var problem *ProblemError
	var connection *ConnectionError
	return (errors.As(err, &problem) && problem.OutcomeUnknown) ||
		(errors.As(err, &connection) && connection.OutcomeUnknown)
}

// problemOf reads a problem document. For any other body, the returned problem has an empty code,
// because only the API sends problem documents.
func problemOf(status int, headers http.Header, text []byte) *ProblemError {
	var members struct {
		Code      string       `json:"code"`
		Detail    string       `json:"detail"`
		RequestID string       `json:"request_id"`
		Errors    []FieldError `json:"errors"`
	}
	problem := &ProblemError{Status: status, Detail: "the response is not from the API", RequestID: headers.Get("X-Request-Id")}
	isProblemDocument := strings.HasPrefix(headers.Get("Content-Type"), "application/problem+json")
	if isProblemDocument && json.Unmarshal(text, &members) == nil && json.Unmarshal(text, &problem.Members) == nil {
		problem.Code, problem.Detail, problem.Errors = members.Code, members.Detail, members.Errors
		if members.RequestID != "" {
			problem.RequestID = members.RequestID
		}
	}
	if seconds, err := strconv.Atoi(headers.Get("Retry-After")); err == nil && seconds >= 0 {
		problem.RetryAfterSeconds = seconds
	}
	return problem
}
