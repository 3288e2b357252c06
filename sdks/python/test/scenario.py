"""Runs sdks/scenario.json with this library and prints a line with the result of each step."""

import json
import os
import re
import sys
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from amana import Amana, ConnectionError, ProblemError, WebhookRefused, verify_webhook, verify_x_signature

scenario = json.loads(Path(sys.argv[1]).read_text(encoding="utf8"))
values = {**scenario["values"], **os.environ}


def fill(value):
    """
    Replaces ${NAME} with its value and ${NAME/} with the last segment of a path. A text that is
    only ${NAME} may become a value of any type.
    """
    if isinstance(value, list):
        return [fill(inner) for inner in value]
    if isinstance(value, dict):
        return {name: fill(inner) for name, inner in value.items()}
    if not isinstance(value, str):
        return value
    if placeholder := re.fullmatch(r"\$\{(\w+)\}", value):
        return values.get(placeholder[1])

    def text_of(match):
        text = str(values.get(match[1]))
        return text.split("?")[0].split("/")[-1] if match[2] else text

    return re.sub(r"\$\{(\w+)(/?)\}", text_of, value)


def http(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def snake_case_of(name):
    return re.sub("[A-Z]", lambda match: "_" + match[0].lower(), name)


def run(step):
    if "http" in step:
        return http(step["http"], step["url"], step.get("body"))
    if signed := step.get("verify") or step.get("verifyXSignature"):
        delivery = http("GET", signed["url"]) if "url" in signed else signed
        body, secrets = delivery["body"].encode(), signed["secrets"]
        # aiohttp decodes header bytes outside ASCII to surrogates in the same way.
        headers = {name: value.encode().decode("ascii", "surrogateescape") for name, value in delivery["headers"].items()}
        if "verifyXSignature" in step:
            verify_x_signature(headers, body, secrets=secrets)
            return {}
        # Converts to a float, because the default, time.time(), is also a float.
        now = float(signed["now"]) if "now" in signed else None
        return verify_webhook(headers, body, secrets=secrets, now=now).body
    settings = scenario["client"]
    client = fill(scenario["clients"][step["as"]])
    amana = Amana(
        client["baseUrl"],
        client["apiKey"],
        timeout=settings["timeoutSeconds"],
        retries=settings["retries"],
        retry_pause=settings["retryPauseSeconds"],
        allow_http=client.get("allowHttp", False),
    )
    resource, method = (snake_case_of(name) for name in step["do"].split("."))
    options = {"idempotency_key": step["key"]} if "key" in step else {}
    result = getattr(getattr(amana, resource), method)(*step["args"], **options)
    return {"count": sum(1 for _ in result)} if method.startswith("list") else result or {}


def text_of(value):
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def result_of(step, keep, show):
    try:
        result = run(step)
        values.update({name: result[field] for name, field in keep.items()})
        return " ".join(["ok", *(f"{name}={text_of(result.get(name))}" for name in show)])
    except ConnectionError as error:
        return "no response" + (", outcome unknown" if error.outcome_unknown else "")
    except ProblemError as error:
        places = sorted(" " + (field.get("pointer") or field["parameter"]) for field in error.errors)
        request = ", request id" if error.request_id else ""
        unknown = ", outcome unknown" if error.outcome_unknown else ""
        return f"problem {error.status} {error.code}{''.join(places)}{request}{unknown}"
    except WebhookRefused:
        return "refused"
    except ValueError:
        return "misuse"


for step in scenario["steps"]:
    request = {name: value for name, value in step.items() if name not in ("keep", "show", "expect")}
    result = result_of(fill(request), step.get("keep", {}), step.get("show", []))
    print("✓" if result == fill(step["expect"]) else "✗", f"{step['what']}: {result}")
