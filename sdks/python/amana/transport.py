from __future__ import annotations

import json
import re
import socket
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Generic, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .errors import ConnectionError, ProblemError, problem_of
from .retry import is_outcome_unknown_after, is_worth_repeating, pause_seconds

T = TypeVar("T")

# Longest Retry-After for which the client waits. If Retry-After is longer, the client raises the
# error at once.
RETRY_AFTER_SECONDS_MAX = 60
_ENCRYPTED_OR_LOOPBACK = re.compile(
    r"^(https:|http://(([a-z0-9-]+\.)*localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]+)?(/|$))", re.IGNORECASE
)


class _NoRedirects(HTTPRedirectHandler):
    """Stops redirects, which would send the key to another server and turn a POST into a GET."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    text: bytes
    body: Any


class Transport:
    """Sends requests, and repeats them after failures that may be temporary."""

    def __init__(
        self, base_url: str, api_key: str, timeout: float, retries: int, retry_pause: float, allow_http: bool
    ) -> None:
        # Checks the key here, because http.client's error for an invalid header contains the key.
        if not re.fullmatch(r"[\x21-\x7e]+", api_key):
            raise ValueError("api_key must be a text of visible ASCII characters")
        if not re.fullmatch(r"https?://[^/?#@\s]+(/[^?#\s]*)?", base_url):
            raise ValueError("base_url must be a URL like https://api.example")
        if not allow_http and not _ENCRYPTED_OR_LOOPBACK.match(base_url):
            raise ValueError(
                "base_url must begin with https://, because http:// sends the key unencrypted; set allow_http to permit it"
            )
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._retries = retries
        self._retry_pause = retry_pause
        self._opener = build_opener(_NoRedirects)

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        redirects: bool = False,
    ) -> Response:
        """Sends a request. Raises ProblemError and ConnectionError."""
        post_key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        key = post_key if method == "POST" else None
        if not re.fullmatch(r"[\x21-\x7e]{1,255}", "-" if key is None else key):
            raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters")
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        repeatable = method in ("GET", "POST")
        outcome_unknown = False
        attempt = 0
        while True:
            attempt += 1
            retry_after = None
            try:
                response = self._attempt(method, path + _query_of(query), data, key)
            except (OSError, HTTPException, ValueError) as error:
                reached = not _was_not_reached(error)
                outcome_unknown = outcome_unknown or (reached and method != "GET")
                if attempt > self._retries or not (repeatable or not reached):
                    raise ConnectionError(f"No response: {error}", outcome_unknown, key) from error
            else:
                if response.status == 303 if redirects else 200 <= response.status < 300:
                    return response
                problem = problem_of(response.status, response.headers, response.text)
                outcome_unknown = method != "GET" and is_outcome_unknown_after(problem, outcome_unknown)
                retry_after = problem.retry_after
                can_repeat = is_worth_repeating(problem, repeatable) and (retry_after or 0) <= RETRY_AFTER_SECONDS_MAX
                if attempt > self._retries or not can_repeat:
                    raise ProblemError(problem, outcome_unknown, key)
            time.sleep(pause_seconds(attempt, self._retry_pause, retry_after))

    def _attempt(self, method: str, path: str, data: bytes | None, key: str | None) -> Response:
        """Sends the request once. Parses the JSON of a success."""
        headers = {
            "Authorization": f"Bearer {self._api_key}",
            "Accept": "application/json",
            "User-Agent": "amana-python/0.1.0",
        }
        if data is not None:
            headers["Content-Type"] = "application/json"
        elif method == "POST":
            headers["Content-Length"] = "0"
        if key is not None:
            headers["Idempotency-Key"] = key
        request = Request(self._base_url + path, data=data, headers=headers, method=method)
        try:
            response = self._opener.open(request, timeout=self._timeout)
        except HTTPError as error_response:
            response = error_response
        with response:
            status = int(response.status)
            text = self._read(response)
            ok = 200 <= status < 300 and status != 204
            received = {name.lower(): value for name, value in response.headers.items()}
            return Response(status, received, text, json.loads(text) if ok else None)

    def _read(self, response: Any) -> bytes:
        """Reads the body within one time limit, because a socket restarts its limit with each read."""
        end = time.monotonic() + self._timeout
        pieces = []
        while piece := response.read1(65536):
            pieces.append(piece)
            if time.monotonic() > end:
                raise TimeoutError("the time limit has passed")
        text = b"".join(pieces)
        length = response.headers.get("content-length")
        if length is not None and len(text) < int(length):
            raise HTTPException("the response is incomplete")
        return text


def _was_not_reached(error: BaseException) -> bool:
    """Returns True if no connection was established. The request then had no effect."""
    reason = error.reason if isinstance(error, URLError) else error
    return isinstance(reason, (ConnectionRefusedError, socket.gaierror))


def _query_of(query: Mapping[str, Any] | None) -> str:
    def text(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    parameters = {name: text(value) for name, value in (query or {}).items() if value is not None}
    return f"?{urlencode(parameters)}" if parameters else ""


def segment(value: str) -> str:
    """Encodes an id for a path. Rejects the ids "", "." and "..", which would change the path."""
    if re.fullmatch(r"\.{0,2}", value):
        raise ValueError(f"{value!r} is not a valid id")
    return quote(value, safe="")


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    # Number of items in the list, at most 1000.
    total: int
    is_last: bool


class List(Generic[T]):
    """A list, newest first. An iteration reads each page when it is needed.

    Items that are created during an iteration shift the pages, so an item may occur twice. To
    prevent this, pass a created_to in the past.
    """

    def __init__(self, transport: Transport, path: str, query: Mapping[str, Any] | None) -> None:
        self._transport = transport
        self._path = path
        self._query = dict(query or {})

    def page(self, offset: int | None = None) -> Page[T]:
        """Reads a page of `limit` items, by default at the `offset` of the query."""
        query = self._query if offset is None else {**self._query, "offset": offset}
        response = self._transport.send("GET", self._path, query=query)
        items = response.body
        total = int(response.headers.get("x-total-count") or len(items))
        is_last = re.search('rel="?next"?', response.headers.get("link") or "") is None
        return Page(items, total, is_last)

    def __iter__(self) -> Iterator[T]:
        offset = int(self._query.get("offset") or 0)
        while True:
            page = self.page(offset or None)
            yield from page.items
            if page.is_last or not page.items:
                return
            offset += len(page.items)


class Resource:
    """Base of the generated resources."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _call(self, method: str, path: str, body: Any = None, idempotency_key: str | None = None) -> Any:
        return self._transport.send(method, path, body=body, idempotency_key=idempotency_key).body

    def _pages(self, path: str, query: Any = None) -> List[Any]:
        return List(self._transport, path, query)

    def _redirect(self, method: str, path: str) -> dict[str, str]:
        response = self._transport.send(method, path, redirects=True)
        return {"location": response.headers.get("location") or ""}
