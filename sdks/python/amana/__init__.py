"""Client library of the Amana API for servers of businesses. It has no dependencies."""

from . import models
from .errors import AmanaError, ConnectionError, ProblemError
from .resources import Amana
from .transport import List, Page
from .webhooks import Webhook, WebhookRefused, verify_webhook, verify_x_signature

__all__ = [
    "Amana",
    "AmanaError",
    "ConnectionError",
    "List",
    "Page",
    "ProblemError",
    "Webhook",
    "WebhookRefused",
    "models",
    "verify_webhook",
    "verify_x_signature",
]
