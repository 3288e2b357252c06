"""Tells sdks/scenario.json with this library: one line for each step, what was seen."""

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
    """Puts values in; ${NAME/} is the last part of a path, a whole text may become a value."""
    if isinstance(value, list):
        return [fill(one) for one in value]
    if isinstance(value, dict):
        return {name: fill(one) for name, one in value.items()}
    if not isinstance(value, str):
        return value
    if whole := re.fullmatch(r"\$\{(\w+)\}", value):
        return values.get(whole[1])
    last = lambda text: text.split("?")[0].split("/")[-1]
    return re.sub(r"\$\{(\w+)(/?)\}", lambda m: last(str(values.get(m[1]))) if m[2] else str(values.get(m[1])), value)


def http(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def snake(name):
    return re.sub("[A-Z]", lambda m: "_" + m[0].lower(), name)


def run(step):
    if "http" in step:
        return http(step["http"], step["url"], step.get("body"))
    if signed := step.get("verify") or step.get("verifyXSignature"):
        came = http("GET", signed["url"]) if "url" in signed else signed
        body, secrets = came["body"].encode(), signed["secrets"]
        # aiohttp decodes header bytes outside ASCII to surrogates in the same way.
        headers = {name: value.encode().decode("ascii", "surrogateescape") for name, value in came["headers"].items()}
        if "verifyXSignature" in step:
            verify_x_signature(headers, body, secrets=secrets)
            return {}
        # time.time() returns a float too.
        now = float(signed["now"]) if "now" in signed else None
        return verify_webhook(headers, body, secrets=secrets, now=now).body
    how = scenario["client"]
    who = fill(scenario["clients"][step["as"]])
    amana = Amana(
        who["baseUrl"],
        who["apiKey"],
        timeout=how["timeoutSeconds"],
        retries=how["retries"],
        retry_pause=how["retryPauseSeconds"],
        allow_http=who.get("allowHttp", False),
    )
    resource, method = (snake(name) for name in step["do"].split("."))
    options = {"idempotency_key": step["key"]} if "key" in step else {}
    result = getattr(getattr(amana, resource), method)(*step["args"], **options)
    return {"count": sum(1 for _ in result)} if method.startswith("list") else result or {}


def shown(value):
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def tell(step, keep, show):
    try:
        result = run(step)
        values.update({name: result[field] for name, field in keep.items()})
        return " ".join(["ok", *(f"{name}={shown(result.get(name))}" for name in show)])
    except ConnectionError as error:
        return "no answer" + (", outcome unknown" if error.outcome_unknown else "")
    except ProblemError as error:
        places = sorted(" " + (one.get("pointer") or one["parameter"]) for one in error.errors)
        request = ", request id" if error.request_id else ""
        unknown = ", outcome unknown" if error.outcome_unknown else ""
        return f"problem {error.status} {error.code}{''.join(places)}{request}{unknown}"
    except WebhookRefused:
        return "refused"
    except ValueError:
        return "misuse"


for step in scenario["steps"]:
    rest = {name: value for name, value in step.items() if name not in ("keep", "show", "expect")}
    told = tell(fill(rest), step.get("keep", {}), step.get("show", []))
    print("✓" if told == fill(step["expect"]) else "✗", f"{step['what']}: {told}")
