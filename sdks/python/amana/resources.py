# Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.
from __future__ import annotations

import builtins

from . import models
from .transport import List, Resource, Transport, segment


class Accounts(Resource):
    def open(self, body: models.OpenAccountBody, *, idempotency_key: str | None = None) -> models.Account:
        """Open an account."""
        return self._call("POST", "/api/v1/accounts", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListAccountsQuery | None = None) -> List[models.Account]:
        """List accounts."""
        return self._pages("/api/v1/accounts", query)

    def get(self, id: str) -> models.Account:
        """Get an account."""
        return self._call("GET", f"/api/v1/accounts/{segment(id)}")

    def update(self, id: str, body: models.UpdateAccountBody | None = None) -> models.Account:
        """Update an account."""
        return self._call("PATCH", f"/api/v1/accounts/{segment(id)}", body)

    def activate(self, id: str, *, idempotency_key: str | None = None) -> models.Account:
        """Activate an account."""
        return self._call("POST", f"/api/v1/accounts/{segment(id)}/activate", idempotency_key=idempotency_key)

    def suspend(self, id: str, *, idempotency_key: str | None = None) -> models.Account:
        """Suspend an account."""
        return self._call("POST", f"/api/v1/accounts/{segment(id)}/suspend", idempotency_key=idempotency_key)

    def reactivate(self, id: str, *, idempotency_key: str | None = None) -> models.Account:
        """Reactivate an account."""
        return self._call("POST", f"/api/v1/accounts/{segment(id)}/reactivate", idempotency_key=idempotency_key)

    def close(self, id: str, *, idempotency_key: str | None = None) -> models.Account:
        """Close an account."""
        return self._call("POST", f"/api/v1/accounts/{segment(id)}/close", idempotency_key=idempotency_key)


class ApiKeys(Resource):
    def create(self, body: models.CreateApiKeyBody, *, idempotency_key: str | None = None) -> models.CreateApiKeyResult:
        """Issue an API key."""
        return self._call("POST", "/api/v1/admin/api-keys", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListApiKeysQuery | None = None) -> List[models.ApiKey]:
        """List API keys."""
        return self._pages("/api/v1/admin/api-keys", query)

    def revoke(self, id: str, body: models.RevokeOwnApiKeyBody | None = None, *, idempotency_key: str | None = None) -> models.RevokeApiKeyResult:
        """Revoke an API key."""
        return self._call("POST", f"/api/v1/admin/api-keys/{segment(id)}/revoke", body, idempotency_key=idempotency_key)


class AuditEvents(Resource):
    def list(self, query: models.ListAuditEventsQuery | None = None) -> List[models.AuditEvent]:
        """List audit events."""
        return self._pages("/api/v1/admin/audit-events", query)


class Beneficiaries(Resource):
    def create(self, body: models.CreateBeneficiaryBody, *, idempotency_key: str | None = None) -> models.Beneficiary:
        """Create a beneficiary."""
        return self._call("POST", "/api/v1/beneficiaries", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListBeneficiariesQuery | None = None) -> List[models.Beneficiary]:
        """List beneficiaries."""
        return self._pages("/api/v1/beneficiaries", query)

    def get(self, id: str) -> models.Beneficiary:
        """Get a beneficiary."""
        return self._call("GET", f"/api/v1/beneficiaries/{segment(id)}")

    def update(self, id: str, body: models.UpdateBeneficiaryBody | None = None) -> models.Beneficiary:
        """Update a beneficiary."""
        return self._call("PUT", f"/api/v1/beneficiaries/{segment(id)}", body)


class Businesses(Resource):
    def onboard(self, body: models.OnboardBusinessBody, *, idempotency_key: str | None = None) -> models.OnboardBusinessResult:
        """Register your business."""
        return self._call("POST", "/api/v1/onboarding/businesses", body, idempotency_key=idempotency_key)

    def create(self, body: models.CreateBusinessBody, *, idempotency_key: str | None = None) -> models.Business:
        """Create a business."""
        return self._call("POST", "/api/v1/businesses", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListBusinessesQuery | None = None) -> List[models.Business]:
        """List businesses."""
        return self._pages("/api/v1/businesses", query)

    def get(self, id: str) -> models.Business:
        """Get a business."""
        return self._call("GET", f"/api/v1/businesses/{segment(id)}")

    def update(self, id: str, body: models.UpdateBusinessBody | None = None) -> models.UpdateOwnBusinessResult:
        """Update a business."""
        return self._call("PATCH", f"/api/v1/businesses/{segment(id)}", body)


class Clients(Resource):
    def create_person(self, body: models.CreatePersonBody, *, idempotency_key: str | None = None) -> models.Client:
        """Create a client."""
        return self._call("POST", "/api/v1/clients/person", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListClientsQuery | None = None) -> List[models.Client]:
        """List clients."""
        return self._pages("/api/v1/clients", query)

    def get(self, id: str) -> models.Client:
        """Get a client."""
        return self._call("GET", f"/api/v1/clients/{segment(id)}")

    def get_person(self, id: str) -> models.Client:
        """Get a person."""
        return self._call("GET", f"/api/v1/clients/person/{segment(id)}")

    def update_person(self, id: str, body: models.UpdatePersonBody | None = None) -> models.Client:
        """Update a client."""
        return self._call("PUT", f"/api/v1/clients/person/{segment(id)}", body)


class DeadLetters(Resource):
    def list(self, query: models.ListDeadLettersQuery | None = None) -> List[models.ListDeadLettersItem]:
        """List dead letters."""
        return self._pages("/api/v1/admin/dead-letters", query)

    def get(self, id: str) -> models.DeadLetter:
        """Get a dead letter."""
        return self._call("GET", f"/api/v1/admin/dead-letters/{segment(id)}")

    def retry(self, id: str, *, idempotency_key: str | None = None) -> models.DeadLetter:
        """Retry a dead letter."""
        return self._call("POST", f"/api/v1/admin/dead-letters/{segment(id)}/retry", idempotency_key=idempotency_key)

    def drop(self, id: str, body: models.DropDeadLetterBody, *, idempotency_key: str | None = None) -> models.DeadLetter:
        """Drop a dead letter."""
        return self._call("POST", f"/api/v1/admin/dead-letters/{segment(id)}/drop", body, idempotency_key=idempotency_key)


class Events(Resource):
    def list(self, query: models.ListEventsQuery | None = None) -> List[models.Event]:
        """List events."""
        return self._pages("/api/v1/events", query)

    def get(self, id: str) -> models.Event:
        """Get an event."""
        return self._call("GET", f"/api/v1/events/{segment(id)}")

    def list_deliveries(self, id: str, query: models.ListWebhookEndpointsQuery | None = None) -> List[models.Delivery]:
        """List deliveries of an event."""
        return self._pages(f"/api/v1/events/{segment(id)}/deliveries", query)

    def redeliver(self, id: str, body: models.RedeliverEventBody | None = None, *, idempotency_key: str | None = None) -> builtins.list[models.Delivery]:
        """Redeliver an event."""
        return self._call("POST", f"/api/v1/events/{segment(id)}/redeliver", body, idempotency_key=idempotency_key)


class Invitations(Resource):
    def create(self, body: models.CreateInvitationBody, *, idempotency_key: str | None = None) -> models.CreateInvitationResult:
        """Create an invitation."""
        return self._call("POST", "/api/v1/admin/invitations", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListWebhookEndpointsQuery | None = None) -> List[models.Invitation]:
        """List invitations."""
        return self._pages("/api/v1/admin/invitations", query)

    def revoke(self, id: str, *, idempotency_key: str | None = None) -> models.Invitation:
        """Revoke an invitation."""
        return self._call("POST", f"/api/v1/admin/invitations/{segment(id)}/revoke", idempotency_key=idempotency_key)


class KycApplications(Resource):
    def create(self, body: models.CreateKycApplicationBody | None = None, *, idempotency_key: str | None = None) -> models.CreateKycApplicationResult:
        """Create a KYC application."""
        return self._call("POST", "/api/v1/kyc/applications", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListKycApplicationsQuery | None = None) -> List[models.KycApplication]:
        """List KYC applications."""
        return self._pages("/api/v1/kyc/applications", query)

    def get(self, id: str) -> models.KycApplication:
        """Get a KYC application."""
        return self._call("GET", f"/api/v1/kyc/applications/{segment(id)}")

    def cancel(self, id: str, *, idempotency_key: str | None = None) -> models.KycApplication:
        """Cancel a KYC application."""
        return self._call("POST", f"/api/v1/kyc/applications/{segment(id)}/cancel", idempotency_key=idempotency_key)

    def review(self, id: str, body: models.ReviewKycApplicationBody, *, idempotency_key: str | None = None) -> models.ReviewKycApplicationResult:
        """Review a KYC application."""
        return self._call("POST", f"/api/v1/kyc/applications/{segment(id)}/review", body, idempotency_key=idempotency_key)


class Me(Resource):
    def get(self) -> models.OwnBusiness:
        """Get your business."""
        return self._call("GET", "/api/v1/me")

    def update(self, body: models.UpdateOwnBusinessBody | None = None) -> models.UpdateOwnBusinessResult:
        """Update your business."""
        return self._call("PATCH", "/api/v1/me", body)

    def list_api_keys(self, query: models.ListWebhookEndpointsQuery | None = None) -> List[models.OwnApiKey]:
        """List your API keys."""
        return self._pages("/api/v1/me/api-keys", query)

    def create_api_key(self, body: models.CreateOwnApiKeyBody, *, idempotency_key: str | None = None) -> models.CreateOwnApiKeyResult:
        """Issue an API key."""
        return self._call("POST", "/api/v1/me/api-keys", body, idempotency_key=idempotency_key)

    def revoke_api_key(self, id: str, body: models.RevokeOwnApiKeyBody | None = None, *, idempotency_key: str | None = None) -> models.RevokeOwnApiKeyResult:
        """Revoke an API key."""
        return self._call("POST", f"/api/v1/me/api-keys/{segment(id)}/revoke", body, idempotency_key=idempotency_key)


class Onboarding(Resource):
    def create_details(self, id: str, body: models.CreateOnboardingDetailsBody, *, idempotency_key: str | None = None) -> models.OnboardingDetails:
        """Create onboarding details."""
        return self._call("POST", f"/api/v1/clients/{segment(id)}/onboarding/details", body, idempotency_key=idempotency_key)

    def get_details(self, id: str) -> models.OnboardingDetails:
        """Get onboarding details."""
        return self._call("GET", f"/api/v1/clients/{segment(id)}/onboarding/details")

    def update_details(self, id: str, body: models.UpdateOnboardingDetailsBody | None = None) -> models.OnboardingDetails:
        """Update onboarding details."""
        return self._call("PATCH", f"/api/v1/clients/{segment(id)}/onboarding/details", body)

    def get_status(self, id: str) -> models.OnboardingStatus:
        """Get the onboarding status."""
        return self._call("GET", f"/api/v1/clients/{segment(id)}/onboarding/status")

    def approve(self, id: str, body: models.ApproveOnboardingBody | None = None, *, idempotency_key: str | None = None) -> models.OnboardingStatus:
        """Approve an onboarding."""
        return self._call("POST", f"/api/v1/clients/{segment(id)}/onboarding/approve", body, idempotency_key=idempotency_key)

    def decline(self, id: str, body: models.ApproveOnboardingBody | None = None, *, idempotency_key: str | None = None) -> models.OnboardingStatus:
        """Decline an onboarding."""
        return self._call("POST", f"/api/v1/clients/{segment(id)}/onboarding/decline", body, idempotency_key=idempotency_key)


class OperatorKeys(Resource):
    def create(self, body: models.CreateOperatorKeyBody, *, idempotency_key: str | None = None) -> models.CreateOperatorKeyResult:
        """Issue an operator key."""
        return self._call("POST", "/api/v1/admin/operator-keys", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListWebhookEndpointsQuery | None = None) -> List[models.OperatorKey]:
        """List operator keys."""
        return self._pages("/api/v1/admin/operator-keys", query)

    def revoke(self, id: str, body: models.RevokeOwnApiKeyBody | None = None, *, idempotency_key: str | None = None) -> models.OperatorKey:
        """Revoke an operator key."""
        return self._call("POST", f"/api/v1/admin/operator-keys/{segment(id)}/revoke", body, idempotency_key=idempotency_key)


class Payments(Resource):
    def create(self, body: models.CreatePaymentBody, *, idempotency_key: str | None = None) -> models.Payment:
        """Create a payment."""
        return self._call("POST", "/api/v1/payments", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListPaymentsQuery | None = None) -> List[models.Payment]:
        """List payments."""
        return self._pages("/api/v1/payments", query)

    def get(self, id: str) -> models.Payment:
        """Get a payment."""
        return self._call("GET", f"/api/v1/payments/{segment(id)}")

    def refresh(self, id: str, *, idempotency_key: str | None = None) -> models.Payment:
        """Refresh a payment."""
        return self._call("POST", f"/api/v1/payments/{segment(id)}/refresh", idempotency_key=idempotency_key)

    def follow_return(self, token: str) -> dict[str, str]:
        """Return from the card processor."""
        return self._redirect("GET", f"/api/v1/payments/return/{segment(token)}")

    def follow_return_by_form(self, token: str) -> dict[str, str]:
        """Return from the card processor (form POST)."""
        return self._redirect("POST", f"/api/v1/payments/return/{segment(token)}")

    def refund(self, id: str, body: models.RefundPaymentBody | None = None, *, idempotency_key: str | None = None) -> models.Payment:
        """Refund a payment."""
        return self._call("POST", f"/api/v1/payments/{segment(id)}/refund", body, idempotency_key=idempotency_key)

    def get_timeline(self, id: str) -> models.PaymentTimeline:
        """Get the timeline of a payment."""
        return self._call("GET", f"/api/v1/admin/payments/{segment(id)}/timeline")

    def list_changed(self, query: models.ListChangedPaymentsQuery | None = None) -> List[models.ListChangedPaymentsItem]:
        """List externally changed payments."""
        return self._pages("/api/v1/admin/payments", query)


class Refunds(Resource):
    def list(self, query: models.ListRefundsQuery | None = None) -> List[models.Refund]:
        """List refunds."""
        return self._pages("/api/v1/admin/refunds", query)

    def resolve(self, id: str, body: models.ResolveRefundBody, *, idempotency_key: str | None = None) -> models.Refund:
        """Resolve a refund."""
        return self._call("POST", f"/api/v1/admin/refunds/{segment(id)}/resolve", body, idempotency_key=idempotency_key)


class WebhookEndpoints(Resource):
    def create(self, body: models.CreateWebhookEndpointBody, *, idempotency_key: str | None = None) -> models.CreateWebhookEndpointResult:
        """Register a webhook endpoint."""
        return self._call("POST", "/api/v1/webhook-endpoints", body, idempotency_key=idempotency_key)

    def list(self, query: models.ListWebhookEndpointsQuery | None = None) -> List[models.ListWebhookEndpointsItem]:
        """List webhook endpoints."""
        return self._pages("/api/v1/webhook-endpoints", query)

    def get(self, id: str) -> models.WebhookEndpoint:
        """Get a webhook endpoint."""
        return self._call("GET", f"/api/v1/webhook-endpoints/{segment(id)}")

    def update(self, id: str, body: models.UpdateWebhookEndpointBody | None = None) -> models.UpdateWebhookEndpointResult:
        """Update a webhook endpoint."""
        return self._call("PATCH", f"/api/v1/webhook-endpoints/{segment(id)}", body)

    def delete(self, id: str) -> None:
        """Delete a webhook endpoint."""
        return self._call("DELETE", f"/api/v1/webhook-endpoints/{segment(id)}")

    def test(self, id: str, *, idempotency_key: str | None = None) -> models.TestWebhookEndpointResult:
        """Send a test event."""
        return self._call("POST", f"/api/v1/webhook-endpoints/{segment(id)}/test", idempotency_key=idempotency_key)

    def check(self, id: str, *, idempotency_key: str | None = None) -> models.CheckWebhookEndpointResult:
        """Check a webhook endpoint."""
        return self._call("POST", f"/api/v1/webhook-endpoints/{segment(id)}/check", idempotency_key=idempotency_key)

    def replay(self, id: str, body: models.ReplayWebhookEndpointBody, *, idempotency_key: str | None = None) -> models.WebhookReplay:
        """Replay a webhook endpoint."""
        return self._call("POST", f"/api/v1/webhook-endpoints/{segment(id)}/replay", body, idempotency_key=idempotency_key)

    def get_replay(self, id: str, replay_id: str) -> models.WebhookReplay:
        """Get a replay."""
        return self._call("GET", f"/api/v1/webhook-endpoints/{segment(id)}/replays/{segment(replay_id)}")


class Amana:
    """The API with one key.

    timeout: of one attempt, in seconds. The API itself takes up to 40, so less gives up on what
    succeeds. retries: attempts after the first one. retry_pause: before the second, then doubled.
    allow_http: permits an http:// address of another machine, to which the key is sent unencrypted.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = 45,
        retries: int = 3,
        retry_pause: float = 1,
        allow_http: bool = False,
    ) -> None:
        transport = Transport(base_url, api_key, timeout, retries, retry_pause, allow_http)
        self.accounts = Accounts(transport)
        self.api_keys = ApiKeys(transport)
        self.audit_events = AuditEvents(transport)
        self.beneficiaries = Beneficiaries(transport)
        self.businesses = Businesses(transport)
        self.clients = Clients(transport)
        self.dead_letters = DeadLetters(transport)
        self.events = Events(transport)
        self.invitations = Invitations(transport)
        self.kyc_applications = KycApplications(transport)
        self.me = Me(transport)
        self.onboarding = Onboarding(transport)
        self.operator_keys = OperatorKeys(transport)
        self.payments = Payments(transport)
        self.refunds = Refunds(transport)
        self.webhook_endpoints = WebhookEndpoints(transport)
