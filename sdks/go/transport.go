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

// Params are the members of a body, or of a query. nil clears a field; what is not there stays.
type Params map[string]any

// IdempotencyKey names what a POST is to do once. Stored before the call, it outlives a crash of
// yours. Without one the client makes its own.
type IdempotencyKey string

// Options of a client.
type Options struct {
	// BaseURL of the deployment, without /api/v1.
	BaseURL string
	APIKey  string
	// Timeout of one attempt; 45 seconds unless given. The API itself takes up to 40, so less gives
	// up on what succeeds.
	Timeout time.Duration
	// Retries are attempts after the first one: 3 unless given, none when negative.
	Retries int
	// RetryPause is that before the second attempt, which doubles from there; a second unless given.
	RetryPause time.Duration
	// AllowHTTP permits an http:// address of another machine, to which the key is sent unencrypted.
	// Addresses of this machine need no permission.
	AllowHTTP bool
}

// retryAfterSecondsMax bounds what a caller would take for a hang; the error then says how long.
const retryAfterSecondsMax = 60

var visible = regexp.MustCompile(`^[\x21-\x7e]{1,255}$`)
var anAddress = regexp.MustCompile(`^https?://[^/?#@\s]+(/[^?#\s]*)?$`)
var isEncryptedOrLoopback = regexp.MustCompile(
	`(?i)^(https:|http://(([a-z0-9-]+\.)*localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?(/|$))`)

// transport sends requests until there is an answer that counts.
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
	// Followed, a redirect would carry the key elsewhere and make a GET of a POST.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &transport{options, &http.Client{CheckRedirect: stay}}
}

// send answers with the headers of a success. Its errors are *ProblemError, *ConnectionError, and
// others for what cannot be sent.
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
			if again := repeatable || !reached; !again || attempt > t.options.Retries || ctx.Err() != nil {
				return nil, &ConnectionError{outcomeUnknown, r.idempotencyKey, err}
			}
		} else {
			problem := problemOf(status, headers, text)
			outcomeUnknown = r.method != "GET" && isOpenAfter(problem, outcomeUnknown)
			wait = problem.RetryAfterSeconds
			again := isWorthRepeating(problem, repeatable) && wait <= retryAfterSecondsMax
			if !again || attempt > t.options.Retries {
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

// prepare makes the bytes and the key that all attempts have in common.
func (t *transport) prepare(r *request) error {
	if !visible.MatchString(t.options.APIKey) {
		return errors.New("amana: APIKey must be given, and be visible ASCII")
	}
	if !anAddress.MatchString(t.options.BaseURL) {
		return errors.New("amana: BaseURL must be an address like https://api.example")
	}
	if !t.options.AllowHTTP && !isEncryptedOrLoopback.MatchString(t.options.BaseURL) {
		return errors.New("amana: BaseURL must begin with https://, because http:// sends the key unencrypted; set AllowHTTP to permit it")
	}
	for _, part := range strings.Split(r.path, "/")[1:] {
		// It would name another thing than was meant.
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("amana: %s has a part that is no id", r.path)
		}
	}
	if r.method == "POST" {
		r.idempotencyKey = rand.Text()
		if len(r.key) > 0 {
			r.idempotencyKey = string(r.key[0])
		}
		if !visible.MatchString(r.idempotencyKey) {
			return errors.New("amana: an IdempotencyKey must be visible ASCII")
		}
	}
	if r.body == nil {
		return nil
	}
	var err error
	r.text, err = json.Marshal(r.body)
	return err
}

// attempt reads a success into r.result, and answers with the text of anything else.
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
	// Attempts are counted here: net/http makes none of its own where it cannot read the body anew.
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
	answer, err := t.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, nil, nil, err
	}
	if answer.StatusCode >= 200 && answer.StatusCode < 300 && answer.StatusCode != 204 {
		if err := json.Unmarshal(text, r.result); err != nil {
			return 0, nil, nil, err
		}
	}
	return answer.StatusCode, answer.Header, text, nil
}

// wasNotReached: nobody was, so nothing was begun.
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
