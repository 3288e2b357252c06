// Command scenario runs sdks/scenario.json with this library and prints a line with the result of
// each step.
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

var variables = values{}
var scenario struct {
	Client  struct{ TimeoutSeconds, RetryPauseSeconds float64 }
	Clients map[string]any
	Values  values
	Steps   []values
}
var placeholder = regexp.MustCompile(`\$\{(\w+)(/?)\}`)
var onlyPlaceholder = regexp.MustCompile(`^\$\{(\w+)\}$`)

// fill replaces ${NAME} with its value and ${NAME/} with the last segment of a path. A text that is
// only ${NAME} may become a value of any type.
func fill(value any) any {
	switch content := value.(type) {
	case []any:
		filled := []any{}
		for _, inner := range content {
			filled = append(filled, fill(inner))
		}
		return filled
	case values:
		filled := values{}
		for name, inner := range content {
			filled[name] = fill(inner)
		}
		return filled
	case string:
		if found := onlyPlaceholder.FindStringSubmatch(content); found != nil {
			return variables[found[1]]
		}
		return placeholder.ReplaceAllStringFunc(content, func(match string) string {
			found := placeholder.FindStringSubmatch(match)
			text := fmt.Sprint(variables[found[1]])
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
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var result values
	return result, json.NewDecoder(response.Body).Decode(&result)
}

func verify(signed values, isX bool) (values, error) {
	delivery := signed
	if url, ok := signed["url"]; ok {
		var err error
		if delivery, err = call("GET", url.(string), nil); err != nil {
			return nil, err
		}
	}
	headers := http.Header{}
	for name, value := range delivery["headers"].(values) {
		headers.Set(name, value.(string))
	}
	secrets := []string{}
	for _, secret := range signed["secrets"].([]any) {
		secrets = append(secrets, secret.(string))
	}
	body := []byte(delivery["body"].(string))
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

// capitalised returns the Go spelling of a name: "create" of payments.create is Create.
func capitalised(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

func operate(step values) (values, error) {
	settings := fill(scenario.Clients[step["as"].(string)]).(values)
	allowHTTP, _ := settings["allowHttp"].(bool)
	client := amana.New(amana.Options{
		BaseURL: settings["baseUrl"].(string), APIKey: settings["apiKey"].(string),
		Timeout: seconds(scenario.Client.TimeoutSeconds), RetryPause: seconds(scenario.Client.RetryPauseSeconds),
		AllowHTTP: allowHTTP,
	})
	resource, name, _ := strings.Cut(step["do"].(string), ".")
	method := reflect.ValueOf(client).Elem().FieldByName(capitalised(resource)).MethodByName(capitalised(name))
	ctx := context.Background()
	arguments := []reflect.Value{}
	if !strings.HasPrefix(name, "list") {
		arguments = append(arguments, reflect.ValueOf(ctx))
	}
	for _, argument := range step["args"].([]any) {
		if members, ok := argument.(values); ok {
			argument = amana.Params(members)
		}
		arguments = append(arguments, reflect.ValueOf(argument))
	}
	if key, ok := step["key"]; ok {
		arguments = append(arguments, reflect.ValueOf(amana.IdempotencyKey(key.(string))))
	}
	results := method.Call(arguments)
	if strings.HasPrefix(name, "list") {
		return count(ctx, results[0])
	}
	if err, ok := results[len(results)-1].Interface().(error); ok {
		return nil, err
	}
	if location, ok := results[0].Interface().(string); ok {
		return values{"location": location}, nil
	}
	text, _ := json.Marshal(results[0].Interface())
	var result values
	return result, json.Unmarshal(text, &result)
}

// count reads a list to its end and returns the number of its items.
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

func resultOf(step, keep values, show []any) string {
	result, err := run(step)
	unknown := ""
	if amana.OutcomeUnknown(err) {
		unknown = ", outcome unknown"
	}
	var problem *amana.ProblemError
	var connection *amana.ConnectionError
	switch {
	case errors.As(err, &connection):
		return "no response" + unknown
	case errors.As(err, &problem):
		places := []string{}
		for _, field := range problem.Errors {
			places = append(places, " "+field.Pointer+field.Parameter)
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
		variables[name] = result[field.(string)]
	}
	shown := "ok"
	for _, name := range show {
		value, ok := result[name.(string)]
		if !ok {
			value = "-"
		}
		shown += fmt.Sprintf(" %s=%v", name, value)
	}
	return shown
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = json.Unmarshal(text, &scenario)
	}
	if err != nil {
		panic(err)
	}
	maps.Copy(variables, scenario.Values)
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		variables[name] = value
	}
	for _, step := range scenario.Steps {
		keep, _ := step["keep"].(values)
		show, _ := step["show"].([]any)
		result := resultOf(fill(step).(values), keep, show)
		mark := "✗"
		if result == fill(step["expect"]) {
			mark = "✓"
		}
		fmt.Printf("%s %s: %s\n", mark, step["what"], result)
	}
}
