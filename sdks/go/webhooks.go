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

// ErrWebhookRefused: answer it with 400, and believe nothing that came.
var ErrWebhookRefused = errors.New("amana: the webhook is not genuine")

// Webhook is one that is genuine.
type Webhook struct {
	// ID is the same on every delivery: what has been seen before is not done again.
	ID    string          `json:"id"`
	Event string          `json:"event"`
	Body  json.RawMessage `json:"-"`
}

// VerifyOptions say what is believed.
type VerifyOptions struct {
	// Secrets as they were shown, whsec_…; two while they are changed.
	Secrets []string
	// Tolerance is how far the time of sending may lie from this machine's clock; 300 seconds
	// unless given.
	Tolerance time.Duration
	// Now is this machine's clock unless given.
	Now time.Time
}

var secretForm = regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`)

// VerifyWebhook verifies webhook-signature over the body as it came, byte for byte. What is not
// genuine is an ErrWebhookRefused.
func VerifyWebhook(headers http.Header, body []byte, options VerifyOptions) (*Webhook, error) {
	if err := areSecrets(options.Secrets); err != nil {
		return nil, err
	}
	id, timestamp, given := headers.Get("webhook-id"), headers.Get("webhook-timestamp"), headers.Get("webhook-signature")
	// Unlike ParseInt, ParseUint rejects a sign.
	seconds, err := strconv.ParseUint(timestamp, 10, 63)
	if err != nil || id == "" || given == "" {
		return nil, fmt.Errorf("%w: its headers are missing", ErrWebhookRefused)
	}
	signed := append([]byte(id+"."+timestamp+"."), body...)
	if !anySignature(options.Secrets, signed, strings.Split(given, " ")) {
		return nil, fmt.Errorf("%w: no signature is good", ErrWebhookRefused)
	}
	now, tolerance := options.Now, options.Tolerance
	if now.IsZero() {
		now = time.Now()
	}
	if tolerance == 0 {
		tolerance = 300 * time.Second
	}
	if now.Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return nil, fmt.Errorf("%w: it was sent too long ago", ErrWebhookRefused)
	}
	webhook := &Webhook{Body: body}
	err = json.Unmarshal(body, webhook)
	webhook.ID = id
	return webhook, err
}

// VerifyXSignature verifies X-Signature, which has no time in it: VerifyWebhook is better.
func VerifyXSignature(headers http.Header, body []byte, secrets []string) error {
	if err := areSecrets(secrets); err != nil {
		return err
	}
	given := []byte(headers.Get("x-signature"))
	for _, secret := range secrets {
		if hmac.Equal(given, []byte("sha256="+hex.EncodeToString(sum([]byte(secret), body)))) {
			return nil
		}
	}
	return fmt.Errorf("%w: X-Signature is not good", ErrWebhookRefused)
}

func anySignature(secrets []string, signed []byte, given []string) bool {
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return false
		}
		good := []byte("v1," + base64.StdEncoding.EncodeToString(sum(key, signed)))
		for _, one := range given {
			if hmac.Equal([]byte(one), good) {
				return true
			}
		}
	}
	return false
}

func sum(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil)
}

// areSecrets: an empty secret would be a key that everybody has.
func areSecrets(secrets []string) error {
	if len(secrets) == 0 {
		return errors.New("amana: no secrets are given")
	}
	for _, secret := range secrets {
		if !secretForm.MatchString(secret) {
			return errors.New("amana: a secret is whsec_ and 44 characters")
		}
	}
	return nil
}
