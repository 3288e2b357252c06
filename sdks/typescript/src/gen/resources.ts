// Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.
import type { List } from "../list.ts";
import { Resource, segment } from "../resource.ts";
import { type ClientOptions, type RequestOptions, Transport } from "../transport.ts";
import type * as models from "./models.ts";

class Accounts extends Resource {
  /** Open an account */
  open(body: models.OpenAccountBody, options?: RequestOptions): Promise<models.Account> {
    return this.call("POST", "/api/v1/accounts", body, options);
  }

  /** List accounts */
  list(query?: models.ListAccountsQuery, options?: RequestOptions): List<models.Account> {
    return this.pages("/api/v1/accounts", query, options);
  }

  /** Get an account */
  get(id: string, options?: RequestOptions): Promise<models.Account> {
    return this.call("GET", `/api/v1/accounts/${segment(id)}`, undefined, options);
  }

  /** Update an account */
  update(id: string, body?: models.UpdateAccountBody, options?: RequestOptions): Promise<models.Account> {
    return this.call("PATCH", `/api/v1/accounts/${segment(id)}`, body, options);
  }

  /** Activate an account */
  activate(id: string, options?: RequestOptions): Promise<models.Account> {
    return this.call("POST", `/api/v1/accounts/${segment(id)}/activate`, undefined, options);
  }

  /** Suspend an account */
  suspend(id: string, options?: RequestOptions): Promise<models.Account> {
    return this.call("POST", `/api/v1/accounts/${segment(id)}/suspend`, undefined, options);
  }

  /** Reactivate an account */
  reactivate(id: string, options?: RequestOptions): Promise<models.Account> {
    return this.call("POST", `/api/v1/accounts/${segment(id)}/reactivate`, undefined, options);
  }

  /** Close an account */
  close(id: string, options?: RequestOptions): Promise<models.Account> {
    return this.call("POST", `/api/v1/accounts/${segment(id)}/close`, undefined, options);
  }
}

class ApiKeys extends Resource {
  /** Issue an API key */
  create(body: models.CreateApiKeyBody, options?: RequestOptions): Promise<models.CreateApiKeyResult> {
    return this.call("POST", "/api/v1/admin/api-keys", body, options);
  }

  /** List API keys */
  list(query?: models.ListApiKeysQuery, options?: RequestOptions): List<models.ApiKey> {
    return this.pages("/api/v1/admin/api-keys", query, options);
  }

  /** Revoke an API key */
  revoke(id: string, body?: models.RevokeOwnApiKeyBody, options?: RequestOptions): Promise<models.RevokeApiKeyResult> {
    return this.call("POST", `/api/v1/admin/api-keys/${segment(id)}/revoke`, body, options);
  }
}

class AuditEvents extends Resource {
  /** List audit events */
  list(query?: models.ListAuditEventsQuery, options?: RequestOptions): List<models.AuditEvent> {
    return this.pages("/api/v1/admin/audit-events", query, options);
  }
}

class Beneficiaries extends Resource {
  /** Create a beneficiary */
  create(body: models.CreateBeneficiaryBody, options?: RequestOptions): Promise<models.Beneficiary> {
    return this.call("POST", "/api/v1/beneficiaries", body, options);
  }

  /** List beneficiaries */
  list(query?: models.ListBeneficiariesQuery, options?: RequestOptions): List<models.Beneficiary> {
    return this.pages("/api/v1/beneficiaries", query, options);
  }

  /** Get a beneficiary */
  get(id: string, options?: RequestOptions): Promise<models.Beneficiary> {
    return this.call("GET", `/api/v1/beneficiaries/${segment(id)}`, undefined, options);
  }

  /** Update a beneficiary */
  update(id: string, body?: models.UpdateBeneficiaryBody, options?: RequestOptions): Promise<models.Beneficiary> {
    return this.call("PUT", `/api/v1/beneficiaries/${segment(id)}`, body, options);
  }
}

class Businesses extends Resource {
  /** Register your business */
  onboard(body: models.OnboardBusinessBody, options?: RequestOptions): Promise<models.OnboardBusinessResult> {
    return this.call("POST", "/api/v1/onboarding/businesses", body, options);
  }

  /** Create a business */
  create(body: models.CreateBusinessBody, options?: RequestOptions): Promise<models.Business> {
    return this.call("POST", "/api/v1/businesses", body, options);
  }

  /** List businesses */
  list(query?: models.ListBusinessesQuery, options?: RequestOptions): List<models.Business> {
    return this.pages("/api/v1/businesses", query, options);
  }

  /** Get a business */
  get(id: string, options?: RequestOptions): Promise<models.Business> {
    return this.call("GET", `/api/v1/businesses/${segment(id)}`, undefined, options);
  }

  /** Update a business */
  update(id: string, body?: models.UpdateBusinessBody, options?: RequestOptions): Promise<models.UpdateOwnBusinessResult> {
    return this.call("PATCH", `/api/v1/businesses/${segment(id)}`, body, options);
  }
}

class Clients extends Resource {
  /** Create a client */
  createPerson(body: models.CreatePersonBody, options?: RequestOptions): Promise<models.Client> {
    return this.call("POST", "/api/v1/clients/person", body, options);
  }

  /** List clients */
  list(query?: models.ListClientsQuery, options?: RequestOptions): List<models.Client> {
    return this.pages("/api/v1/clients", query, options);
  }

  /** Get a client */
  get(id: string, options?: RequestOptions): Promise<models.Client> {
    return this.call("GET", `/api/v1/clients/${segment(id)}`, undefined, options);
  }

  /** Get a person */
  getPerson(id: string, options?: RequestOptions): Promise<models.Client> {
    return this.call("GET", `/api/v1/clients/person/${segment(id)}`, undefined, options);
  }

  /** Update a client */
  updatePerson(id: string, body?: models.UpdatePersonBody, options?: RequestOptions): Promise<models.Client> {
    return this.call("PUT", `/api/v1/clients/person/${segment(id)}`, body, options);
  }
}

class DeadLetters extends Resource {
  /** List dead letters */
  list(query?: models.ListDeadLettersQuery, options?: RequestOptions): List<models.ListDeadLettersItem> {
    return this.pages("/api/v1/admin/dead-letters", query, options);
  }

  /** Get a dead letter */
  get(id: string, options?: RequestOptions): Promise<models.DeadLetter> {
    return this.call("GET", `/api/v1/admin/dead-letters/${segment(id)}`, undefined, options);
  }

  /** Retry a dead letter */
  retry(id: string, options?: RequestOptions): Promise<models.DeadLetter> {
    return this.call("POST", `/api/v1/admin/dead-letters/${segment(id)}/retry`, undefined, options);
  }

  /** Drop a dead letter */
  drop(id: string, body: models.DropDeadLetterBody, options?: RequestOptions): Promise<models.DeadLetter> {
    return this.call("POST", `/api/v1/admin/dead-letters/${segment(id)}/drop`, body, options);
  }
}

class Events extends Resource {
  /** List events */
  list(query?: models.ListEventsQuery, options?: RequestOptions): List<models.Event> {
    return this.pages("/api/v1/events", query, options);
  }

  /** Get an event */
  get(id: string, options?: RequestOptions): Promise<models.Event> {
    return this.call("GET", `/api/v1/events/${segment(id)}`, undefined, options);
  }

  /** List deliveries of an event */
  listDeliveries(id: string, query?: models.ListWebhookEndpointsQuery, options?: RequestOptions): List<models.Delivery> {
    return this.pages(`/api/v1/events/${segment(id)}/deliveries`, query, options);
  }

  /** Redeliver an event */
  redeliver(id: string, body?: models.RedeliverEventBody, options?: RequestOptions): Promise<readonly models.Delivery[]> {
    return this.call("POST", `/api/v1/events/${segment(id)}/redeliver`, body, options);
  }
}

class Invitations extends Resource {
  /** Create an invitation */
  create(body: models.CreateInvitationBody, options?: RequestOptions): Promise<models.CreateInvitationResult> {
    return this.call("POST", "/api/v1/admin/invitations", body, options);
  }

  /** List invitations */
  list(query?: models.ListWebhookEndpointsQuery, options?: RequestOptions): List<models.Invitation> {
    return this.pages("/api/v1/admin/invitations", query, options);
  }

  /** Revoke an invitation */
  revoke(id: string, options?: RequestOptions): Promise<models.Invitation> {
    return this.call("POST", `/api/v1/admin/invitations/${segment(id)}/revoke`, undefined, options);
  }
}

class KycApplications extends Resource {
  /** Create a KYC application */
  create(body?: models.CreateKycApplicationBody, options?: RequestOptions): Promise<models.CreateKycApplicationResult> {
    return this.call("POST", "/api/v1/kyc/applications", body, options);
  }

  /** List KYC applications */
  list(query?: models.ListKycApplicationsQuery, options?: RequestOptions): List<models.KycApplication> {
    return this.pages("/api/v1/kyc/applications", query, options);
  }

  /** Get a KYC application */
  get(id: string, options?: RequestOptions): Promise<models.KycApplication> {
    return this.call("GET", `/api/v1/kyc/applications/${segment(id)}`, undefined, options);
  }

  /** Cancel a KYC application */
  cancel(id: string, options?: RequestOptions): Promise<models.KycApplication> {
    return this.call("POST", `/api/v1/kyc/applications/${segment(id)}/cancel`, undefined, options);
  }

  /** Review a KYC application */
  review(id: string, body: models.ReviewKycApplicationBody, options?: RequestOptions): Promise<models.ReviewKycApplicationResult> {
    return this.call("POST", `/api/v1/kyc/applications/${segment(id)}/review`, body, options);
  }
}

class Me extends Resource {
  /** Get your business */
  get(options?: RequestOptions): Promise<models.OwnBusiness> {
    return this.call("GET", "/api/v1/me", undefined, options);
  }

  /** Update your business */
  update(body?: models.UpdateOwnBusinessBody, options?: RequestOptions): Promise<models.UpdateOwnBusinessResult> {
    return this.call("PATCH", "/api/v1/me", body, options);
  }

  /** List your API keys */
  listApiKeys(query?: models.ListWebhookEndpointsQuery, options?: RequestOptions): List<models.OwnApiKey> {
    return this.pages("/api/v1/me/api-keys", query, options);
  }

  /** Issue an API key */
  createApiKey(body: models.CreateOwnApiKeyBody, options?: RequestOptions): Promise<models.CreateOwnApiKeyResult> {
    return this.call("POST", "/api/v1/me/api-keys", body, options);
  }

  /** Revoke an API key */
  revokeApiKey(id: string, body?: models.RevokeOwnApiKeyBody, options?: RequestOptions): Promise<models.RevokeOwnApiKeyResult> {
    return this.call("POST", `/api/v1/me/api-keys/${segment(id)}/revoke`, body, options);
  }
}

class Onboarding extends Resource {
  /** Create onboarding details */
  createDetails(id: string, body: models.CreateOnboardingDetailsBody, options?: RequestOptions): Promise<models.OnboardingDetails> {
    return this.call("POST", `/api/v1/clients/${segment(id)}/onboarding/details`, body, options);
  }

  /** Get onboarding details */
  getDetails(id: string, options?: RequestOptions): Promise<models.OnboardingDetails> {
    return this.call("GET", `/api/v1/clients/${segment(id)}/onboarding/details`, undefined, options);
  }

  /** Update onboarding details */
  updateDetails(id: string, body?: models.UpdateOnboardingDetailsBody, options?: RequestOptions): Promise<models.OnboardingDetails> {
    return this.call("PATCH", `/api/v1/clients/${segment(id)}/onboarding/details`, body, options);
  }

  /** Get the onboarding status */
  getStatus(id: string, options?: RequestOptions): Promise<models.OnboardingStatus> {
    return this.call("GET", `/api/v1/clients/${segment(id)}/onboarding/status`, undefined, options);
  }

  /** Approve an onboarding */
  approve(id: string, body?: models.ApproveOnboardingBody, options?: RequestOptions): Promise<models.OnboardingStatus> {
    return this.call("POST", `/api/v1/clients/${segment(id)}/onboarding/approve`, body, options);
  }

  /** Decline an onboarding */
  decline(id: string, body?: models.ApproveOnboardingBody, options?: RequestOptions): Promise<models.OnboardingStatus> {
    return this.call("POST", `/api/v1/clients/${segment(id)}/onboarding/decline`, body, options);
  }
}

class OperatorKeys extends Resource {
  /** Issue an operator key */
  create(body: models.CreateOperatorKeyBody, options?: RequestOptions): Promise<models.CreateOperatorKeyResult> {
    return this.call("POST", "/api/v1/admin/operator-keys", body, options);
  }

  /** List operator keys */
  list(query?: models.ListWebhookEndpointsQuery, options?: RequestOptions): List<models.OperatorKey> {
    return this.pages("/api/v1/admin/operator-keys", query, options);
  }

  /** Revoke an operator key */
  revoke(id: string, body?: models.RevokeOwnApiKeyBody, options?: RequestOptions): Promise<models.OperatorKey> {
    return this.call("POST", `/api/v1/admin/operator-keys/${segment(id)}/revoke`, body, options);
  }
}

class Payments extends Resource {
  /** Create a payment */
  create(body: models.CreatePaymentBody, options?: RequestOptions): Promise<models.Payment> {
    return this.call("POST", "/api/v1/payments", body, options);
  }

  /** List payments */
  list(query?: models.ListPaymentsQuery, options?: RequestOptions): List<models.Payment> {
    return this.pages("/api/v1/payments", query, options);
  }

  /** Get a payment */
  get(id: string, options?: RequestOptions): Promise<models.Payment> {
    return this.call("GET", `/api/v1/payments/${segment(id)}`, undefined, options);
  }

  /** Refresh a payment */
  refresh(id: string, options?: RequestOptions): Promise<models.Payment> {
    return this.call("POST", `/api/v1/payments/${segment(id)}/refresh`, undefined, options);
  }

  /** Return from the card processor */
  followReturn(token: string, options?: RequestOptions): Promise<{ location: string }> {
    return this.redirect("GET", `/api/v1/payments/return/${segment(token)}`, options);
  }

  /** Return from the card processor (form POST) */
  followReturnByForm(token: string, options?: RequestOptions): Promise<{ location: string }> {
    return this.redirect("POST", `/api/v1/payments/return/${segment(token)}`, options);
  }

  /** Refund a payment */
  refund(id: string, body?: models.RefundPaymentBody, options?: RequestOptions): Promise<models.Payment> {
    return this.call("POST", `/api/v1/payments/${segment(id)}/refund`, body, options);
  }

  /** Get the timeline of a payment */
  getTimeline(id: string, options?: RequestOptions): Promise<models.PaymentTimeline> {
    return this.call("GET", `/api/v1/admin/payments/${segment(id)}/timeline`, undefined, options);
  }

  /** List externally changed payments */
  listChanged(query?: models.ListChangedPaymentsQuery, options?: RequestOptions): List<models.ListChangedPaymentsItem> {
    return this.pages("/api/v1/admin/payments", query, options);
  }
}

class Refunds extends Resource {
  /** List refunds */
  list(query?: models.ListRefundsQuery, options?: RequestOptions): List<models.Refund> {
    return this.pages("/api/v1/admin/refunds", query, options);
  }

  /** Resolve a refund */
  resolve(id: string, body: models.ResolveRefundBody, options?: RequestOptions): Promise<models.Refund> {
    return this.call("POST", `/api/v1/admin/refunds/${segment(id)}/resolve`, body, options);
  }
}

class WebhookEndpoints extends Resource {
  /** Register a webhook endpoint */
  create(body: models.CreateWebhookEndpointBody, options?: RequestOptions): Promise<models.CreateWebhookEndpointResult> {
    return this.call("POST", "/api/v1/webhook-endpoints", body, options);
  }

  /** List webhook endpoints */
  list(query?: models.ListWebhookEndpointsQuery, options?: RequestOptions): List<models.ListWebhookEndpointsItem> {
    return this.pages("/api/v1/webhook-endpoints", query, options);
  }

  /** Get a webhook endpoint */
  get(id: string, options?: RequestOptions): Promise<models.WebhookEndpoint> {
    return this.call("GET", `/api/v1/webhook-endpoints/${segment(id)}`, undefined, options);
  }

  /** Update a webhook endpoint */
  update(id: string, body?: models.UpdateWebhookEndpointBody, options?: RequestOptions): Promise<models.UpdateWebhookEndpointResult> {
    return this.call("PATCH", `/api/v1/webhook-endpoints/${segment(id)}`, body, options);
  }

  /** Delete a webhook endpoint */
  delete(id: string, options?: RequestOptions): Promise<void> {
    return this.call("DELETE", `/api/v1/webhook-endpoints/${segment(id)}`, undefined, options);
  }

  /** Send a test event */
  test(id: string, options?: RequestOptions): Promise<models.TestWebhookEndpointResult> {
    return this.call("POST", `/api/v1/webhook-endpoints/${segment(id)}/test`, undefined, options);
  }

  /** Check a webhook endpoint */
  check(id: string, options?: RequestOptions): Promise<models.CheckWebhookEndpointResult> {
    return this.call("POST", `/api/v1/webhook-endpoints/${segment(id)}/check`, undefined, options);
  }

  /** Replay a webhook endpoint */
  replay(id: string, body: models.ReplayWebhookEndpointBody, options?: RequestOptions): Promise<models.WebhookReplay> {
    return this.call("POST", `/api/v1/webhook-endpoints/${segment(id)}/replay`, body, options);
  }

  /** Get a replay */
  getReplay(id: string, replayId: string, options?: RequestOptions): Promise<models.WebhookReplay> {
    return this.call("GET", `/api/v1/webhook-endpoints/${segment(id)}/replays/${segment(replayId)}`, undefined, options);
  }
}

/** The API with one key. */
export class Amana {
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly auditEvents: AuditEvents;
  readonly beneficiaries: Beneficiaries;
  readonly businesses: Businesses;
  readonly clients: Clients;
  readonly deadLetters: DeadLetters;
  readonly events: Events;
  readonly invitations: Invitations;
  readonly kycApplications: KycApplications;
  readonly me: Me;
  readonly onboarding: Onboarding;
  readonly operatorKeys: OperatorKeys;
  readonly payments: Payments;
  readonly refunds: Refunds;
  readonly webhookEndpoints: WebhookEndpoints;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.accounts = new Accounts(transport);
    this.apiKeys = new ApiKeys(transport);
    this.auditEvents = new AuditEvents(transport);
    this.beneficiaries = new Beneficiaries(transport);
    this.businesses = new Businesses(transport);
    this.clients = new Clients(transport);
    this.deadLetters = new DeadLetters(transport);
    this.events = new Events(transport);
    this.invitations = new Invitations(transport);
    this.kycApplications = new KycApplications(transport);
    this.me = new Me(transport);
    this.onboarding = new Onboarding(transport);
    this.operatorKeys = new OperatorKeys(transport);
    this.payments = new Payments(transport);
    this.refunds = new Refunds(transport);
    this.webhookEndpoints = new WebhookEndpoints(transport);
  }
}
