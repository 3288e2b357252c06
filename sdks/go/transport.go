package amana

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Params are the members of a body or a query. In a body, nil clears a field, and a missing member
// leaves it unchanged.
type Params map[string]any

// IdempotencyKey is the Idempotency-Key of a POST. Store it before the call to repeat the request
// after a crash. Without one, the client generates a key.
type IdempotencyKey string

// Options are the options of a client.
type Options struct {
	// BaseURL is the URL of the deployment without /api/v1, for example "https://api.example".
	BaseURL string
	APIKey  string
	// Timeout is the time limit of one attempt. Default: 45 seconds. The API needs up to 40 seconds,
	// so a shorter limit can abort requests that succeed.
	Timeout time.Duration
	// Retries is the maximum number of attempts after the first. Default: 3. A negative number means
	// no retries.
	Retries int
	// RetryPause is the pause before the second attempt. It doubles before each further attempt.
	// Default: 1 second.
	RetryPause time.Duration
	// AllowHTTP permits an http:// URL of another machine, to which the key is sent unencrypted.
	// Default: false. Loopback addresses need no permission.
	AllowHTTP bool
}

// Longest Retry-After for which the client waits. If Retry-After is longer, the client returns the
// error at once.
const retryAfterSecondsMax = 60

var visibleASCII = regexp.MustCompile(`^[\x21-\x7e]{1,255}$`)
var baseURLForm = regexp.MustCompile(`^https?://[^/?#@\s]+(/[^?#\s]*)?$`)
var isEncryptedOrLoopback = regexp.MustCompile(
	`(?i)^(https:|http://(([a-z0-9-]+\.)*localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?(/|$))`)

// transport sends requests, and repeats them after failures that may be temporary.
type transport struct {
	options Options
	client  *http.Client
}

type request struct {
	method, path   string
	query, body    Params
	key            []IdempotencyKey
	redirects      bool
	result         any
	idempotencyKey string
	text           []byte
}

func newTransport(options Options) *transport {
	options.BaseURL = strings.TrimRight(options.BaseURL, "/")
	if options.Timeout == 0 {
		options.Timeout = 45 * time.Second
	}
	if options.Retries == 0 {
		options.Retries = 3
	}
	if options.RetryPause == 0 {
		options.RetryPause = time.Second
	}
	// A redirect must not be followed, because the client would send the key to another server and
	// turn a POST into a GET.
	rejectRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &transport{options, &http.Client{CheckRedirect: rejectRedirects}}
}

// send sends a request and returns the headers of a success. Its errors are *ProblemError,
// *ConnectionError, and others for a request that is not valid.
func (t *transport) send(ctx context.Context, r request) (http.Header, error) {
	if err := t.prepare(&r); err != nil {
		return nil, err
	}
	repeatable := r.method == "GET" || r.method == "POST"
	outcomeUnknown := false
	for attempt := 1; ; attempt++ {
		wait := 0
		status, headers, text, err := t.attempt(ctx, r)
		if err == nil && (status == 303 && r.redirects || status >= 200 && status < 300) {
			return headers, nil
		}
		if err != nil {
			reached := !wasNotReached(err)
			outcomeUnknown = outcomeUnknown || (reached && r.method != "GET")
			if canRepeat := repeatable || !reached; !canRepeat || attempt > t.options.Retries || ctx.Err() != nil {
				return nil, &ConnectionError{outcomeUnknown, r.idempotencyKey, err}
			}
		} else {
			problem := problemOf(status, headers, text)
			outcomeUnknown = r.method != "GET" && isOutcomeUnknownAfter(problem, outcomeUnknown)
			wait = problem.RetryAfterSeconds
			canRepeat := isWorthRepeating(problem, repeatable) && wait <= retryAfterSecondsMax
			if !canRepeat || attempt > t.options.Retries {
				problem.OutcomeUnknown, problem.IdempotencyKey = outcomeUnknown, r.idempotencyKey
				return nil, problem
			}
		}
		select {
		case <-time.After(pause(attempt, t.options.RetryPause, wait)):
		case <-ctx.Done():
			return nil, &ConnectionError{outcomeUnknown, r.idempotencyKey, ctx.Err()}
		}
	}
}

// prepare checks the request and sets the bytes and the key that all its attempts use.
func (t *transport) prepare(r *request) error {
	if !visibleASCII.MatchString(t.options.APIKey) {
		return errors.New("amana: APIKey must be 1 to 255 visible ASCII characters")
	}
	if !baseURLForm.MatchString(t.options.BaseURL) {
		return errors.New("amana: BaseURL must be a URL like https://api.example")
	}
	if !t.options.AllowHTTP && !isEncryptedOrLoopback.MatchString(t.options.BaseURL) {
		return errors.New("amana: BaseURL must begin with https://, because http:// sends the key unencrypted; set AllowHTTP to permit it")
	}
	for _, part := range strings.Split(r.path, "/")[1:] {
		// An empty id, or an id of one or two dots, would change the path.
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("amana: %q in %s is not a valid id", part, r.path)
		}
	}
	if r.method == "POST" {
		r.idempotencyKey = rand.Text()
		if len(r.key) > 0 {
			r.idempotencyKey = string(r.key[0])
		}
		if !visibleASCII.MatchString(r.idempotencyKey) {
			return errors.New("amana: IdempotencyKey must be 1 to 255 visible ASCII characters")
		}
	}
	if r.body == nil {
		return nil
	}
	var err error
	r.text, err = json.Marshal(r.body)
	return err
}

// attempt sends the request once. It parses the JSON of a success into r.result. It returns the
// status, the headers and the body.
func (t *transport) attempt(ctx context.Context, r request) (int, http.Header, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, t.options.Timeout)
	defer cancel()
	query := url.Values{}
	for name, value := range r.query {
		if value != nil {
			query.Set(name, fmt.Sprint(value))
		}
	}
	address := t.options.BaseURL + r.path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(r.text))
	if err != nil {
		return 0, nil, nil, err
	}
	// Prevents attempts that are not counted. Without GetBody, net/http cannot repeat a request with
	// a body.
	req.GetBody = nil
	req.Header.Set("Authorization", "Bearer "+t.options.APIKey)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "amana-go/0.1.0")
	if r.text != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.idempotencyKey != "" {
		req.Header.Set("Idempotency-Key", r.idempotencyKey)
	}
	response, err := t.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, nil, err
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 && response.StatusCode != 204 {
		if err := json.Unmarshal(text, r.result); err != nil {
			return 0, nil, nil, err
		}
	}
	return response.StatusCode, response.Header, text, nil
}

// wasNotReached returns true if no connection was established. The request then had no effect.
func wasNotReached(err error) bool {
	var operation *net.OpError
	return errors.As(err, &operation) && operation.Op == "dial"
}

func call[T any](ctx context.Context, t *transport, method, path string, body Params, key []IdempotencyKey) (*T, error) {
	var result T
	if _, err := t.send(ctx, request{method: method, path: path, body: body, key: key, result: &result}); err != nil {
		return nil, err
	}
	return &result, nil
}

func redirect(ctx context.Context, t *transport, method, path string) (string, error) {
	headers, err := t.send(ctx, request{method: method, path: path, redirects: true, result: new(any)})
	return headers.Get("Location"), err
}
