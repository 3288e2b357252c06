// Command scenario tells sdks/scenario.json with this library: one line for each step.
package main

import (
	"amana"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

type values = map[string]any

var known = values{}
var scenario struct {
	Client  struct{ TimeoutSeconds, RetryPauseSeconds float64 }
	Clients map[string]any
	Values  values
	Steps   []values
}
var named = regexp.MustCompile(`\$\{(\w+)(/?)\}`)
var whole = regexp.MustCompile(`^\$\{(\w+)\}$`)

// fill puts values in; ${NAME/} is the last part of a path, a whole text may become a value.
func fill(value any) any {
	switch given := value.(type) {
	case []any:
		filled := []any{}
		for _, one := range given {
			filled = append(filled, fill(one))
		}
		return filled
	case values:
		filled := values{}
		for name, one := range given {
			filled[name] = fill(one)
		}
		return filled
	case string:
		if found := whole.FindStringSubmatch(given); found != nil {
			return known[found[1]]
		}
		return named.ReplaceAllStringFunc(given, func(one string) string {
			found := named.FindStringSubmatch(one)
			text := fmt.Sprint(known[found[1]])
			if found[2] == "/" {
				text, _, _ = strings.Cut(text, "?")
				return text[strings.LastIndex(text, "/")+1:]
			}
			return text
		})
	}
	return value
}

func call(method, url string, body any) (values, error) {
	text, _ := json.Marshal(body)
	request, err := http.NewRequest(method, url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var result values
	return result, json.NewDecoder(answer.Body).Decode(&result)
}

func verify(signed values, isX bool) (values, error) {
	came := signed
	if url, ok := signed["url"]; ok {
		var err error
		if came, err = call("GET", url.(string), nil); err != nil {
			return nil, err
		}
	}
	headers := http.Header{}
	for name, value := range came["headers"].(values) {
		headers.Set(name, value.(string))
	}
	secrets := []string{}
	for _, secret := range signed["secrets"].([]any) {
		secrets = append(secrets, secret.(string))
	}
	body := []byte(came["body"].(string))
	if isX {
		return nil, amana.VerifyXSignature(headers, body, secrets)
	}
	options := amana.VerifyOptions{Secrets: secrets}
	if now, ok := signed["now"]; ok {
		options.Now = time.Unix(int64(now.(float64)), 0)
	}
	webhook, err := amana.VerifyWebhook(headers, body, options)
	if err != nil {
		return nil, err
	}
	var result values
	return result, json.Unmarshal(webhook.Body, &result)
}

func seconds(count float64) time.Duration { return time.Duration(count * float64(time.Second)) }

// capitalised is how Go calls what others call payments.create.
func capitalised(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func operate(step values) (values, error) {
	who := fill(scenario.Clients[step["as"].(string)]).(values)
	allowHTTP, _ := who["allowHttp"].(bool)
	client := amana.New(amana.Options{
		BaseURL: who["baseUrl"].(string), APIKey: who["apiKey"].(string),
		Timeout: seconds(scenario.Client.TimeoutSeconds), RetryPause: seconds(scenario.Client.RetryPauseSeconds),
		AllowHTTP: allowHTTP,
	})
	resource, name, _ := strings.Cut(step["do"].(string), ".")
	method := reflect.ValueOf(client).Elem().FieldByName(capitalised(resource)).MethodByName(capitalised(name))
	ctx := context.Background()
	given := []reflect.Value{}
	if !strings.HasPrefix(name, "list") {
		given = append(given, reflect.ValueOf(ctx))
	}
	for _, argument := range step["args"].([]any) {
		if members, ok := argument.(values); ok {
			argument = amana.Params(members)
		}
		given = append(given, reflect.ValueOf(argument))
	}
	if key, ok := step["key"]; ok {
		given = append(given, reflect.ValueOf(amana.IdempotencyKey(key.(string))))
	}
	answers := method.Call(given)
	if strings.HasPrefix(name, "list") {
		return count(ctx, answers[0])
	}
	if err, ok := answers[len(answers)-1].Interface().(error); ok {
		return nil, err
	}
	if location, ok := answers[0].Interface().(string); ok {
		return values{"location": location}, nil
	}
	text, _ := json.Marshal(answers[0].Interface())
	var result values
	return result, json.Unmarshal(text, &result)
}

// count walks through a list of any kind.
func count(ctx context.Context, list reflect.Value) (values, error) {
	all := list.MethodByName("All").Call([]reflect.Value{reflect.ValueOf(ctx)})[0]
	count := 0
	for _, err := range all.Seq2() {
		if failure, ok := err.Interface().(error); ok {
			return nil, failure
		}
		count++
	}
	return values{"count": count}, nil
}

func run(step values) (values, error) {
	if method, ok := step["http"]; ok {
		return call(method.(string), step["url"].(string), step["body"])
	}
	for _, kind := range []string{"verify", "verifyXSignature"} {
		if signed, ok := step[kind]; ok {
			return verify(signed.(values), kind == "verifyXSignature")
		}
	}
	return operate(step)
}

func tell(step, keep values, show []any) string {
	result, err := run(step)
	unknown := ""
	if amana.OutcomeUnknown(err) {
		unknown = ", outcome unknown"
	}
	var problem *amana.ProblemError
	var connection *amana.ConnectionError
	switch {
	case errors.As(err, &connection):
		return "no answer" + unknown
	case errors.As(err, &problem):
		places := []string{}
		for _, one := range problem.Errors {
			places = append(places, " "+one.Pointer+one.Parameter)
		}
		slices.Sort(places)
		request := ""
		if problem.RequestID != "" {
			request = ", request id"
		}
		return fmt.Sprintf("problem %d %s%s%s%s", problem.Status, problem.Code, strings.Join(places, ""), request, unknown)
	case errors.Is(err, amana.ErrWebhookRefused):
		return "refused"
	case err != nil:
		return "misuse"
	}
	for name, field := range keep {
		known[name] = result[field.(string)]
	}
	told := "ok"
	for _, name := range show {
		value, ok := result[name.(string)]
		if !ok {
			value = "-"
		}
		told += fmt.Sprintf(" %s=%v", name, value)
	}
	return told
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &scenario)
	}
	if err != nil {
		panic(err)
	}
	maps.Copy(known, scenario.Values)
	for _, one := range os.Environ() {
		name, value, _ := strings.Cut(one, "=")
		known[name] = value
	}
	for _, step := range scenario.Steps {
		keep, _ := step["keep"].(values)
		show, _ := step["show"].([]any)
		told := tell(fill(step).(values), keep, show)
		mark := "✗"
		if told == fill(step["expect"]) {
			mark = "✓"
		}
		fmt.Printf("%s %s: %s\n", mark, step["what"], told)
	}
}
