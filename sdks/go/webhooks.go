package amana

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrWebhookRefused means that the webhook is not genuine. Respond with status 400 and discard the
// webhook. The message contains the reason.
var ErrWebhookRefused = errors.New("amana: the webhook is not genuine")

// Webhook is a verified webhook.
type Webhook struct {
	// ID is the id of the event. All deliveries of an event have the same id. Ignore an id that you
	// have processed.
	ID    string          `json:"id"`
	Event string          `json:"event"`
	Body  json.RawMessage `json:"-"`
}

// VerifyOptions are the options of VerifyWebhook.
type VerifyOptions struct {
	// Secrets are the webhook secrets (whsec_…). Pass both secrets during a rotation.
	Secrets []string
	// Tolerance is the maximum difference between the timestamp and the clock of this machine.
	// Default: 300 seconds.
	Tolerance time.Duration
	// Now replaces the clock of this machine.
	Now time.Time
}

var secretForm = regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`)

// VerifyWebhook verifies webhook-signature for the raw request body. Its error is
// ErrWebhookRefused, or another error for an invalid secret.
func VerifyWebhook(headers http.Header, body []byte, options VerifyOptions) (*Webhook, error) {
	if err := checkSecrets(options.Secrets); err != nil {
		return nil, err
	}
	id, timestamp, received := headers.Get("webhook-id"), headers.Get("webhook-timestamp"), headers.Get("webhook-signature")
	// Unlike ParseInt, ParseUint rejects a sign.
	seconds, err := strconv.ParseUint(timestamp, 10, 63)
	if err != nil || id == "" || received == "" {
		return nil, fmt.Errorf("%w: webhook headers are missing", ErrWebhookRefused)
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	if !hasMatch(options.Secrets, signed, strings.Split(received, " ")) {
		return nil, fmt.Errorf("%w: no signature matches", ErrWebhookRefused)
	}
	now, tolerance := options.Now, options.Tolerance
	if now.IsZero() {
		now = time.Now()
	}
	if tolerance == 0 {
		tolerance = 300 * time.Second
	}
	if now.Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return nil, fmt.Errorf("%w: the timestamp is outside the tolerance", ErrWebhookRefused)
	}
	webhook := &Webhook{Body: body}
	err = json.Unmarshal(body, webhook)
	webhook.ID = id
	return webhook, err
}

// VerifyXSignature verifies X-Signature. This signature does not cover the time, so prefer
// VerifyWebhook. Both functions return the same errors.
func VerifyXSignature(headers http.Header, body []byte, secrets []string) error {
	if err := checkSecrets(secrets); err != nil {
		return err
	}
	received := []byte(headers.Get("x-signature"))
	for _, secret := range secrets {
		if hmac.Equal(received, []byte("sha256="+hex.EncodeToString(hmacOf([]byte(secret), body)))) {
			return nil
		}
	}
	return fmt.Errorf("%w: X-Signature does not match", ErrWebhookRefused)
}

func hasMatch(secrets []string, signed []byte, candidates []string) bool {
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return false
		}
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(hmacOf(key, signed)))
		for _, candidate := range candidates {
			if hmac.Equal([]byte(candidate), expected) {
				return true
			}
		}
	}
	return false
}

func hmacOf(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// checkSecrets rejects invalid secrets, because any sender could sign with an empty secret.
func checkSecrets(secrets []string) error {
	if len(secrets) == 0 {
		return errors.New("amana: at least one secret is required")
	}
	for _, secret := range secrets {
		if !secretForm.MatchString(secret) {
			return errors.New("amana: each secret must be whsec_ followed by 44 characters, as shown for the endpoint")
		}
	}
	return nil
}
