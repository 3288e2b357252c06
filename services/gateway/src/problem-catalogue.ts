type Entry = readonly [title: string, advice: string, status: number];

/**
 * What every refusal is called, what to do about it, and its status. Pages under /problems show it.
 */
export const problemCatalogue = {
  account_balance_not_zero: ["Account is not empty", "Only an account with zero balances can be closed. Empty it first.", 409],
  account_closed: [
    "Account is closed",
    "A closed account's name and limits stay. Its description and external_account_id can still change.",
    409,
  ],
  account_limit_invalid: ["Account limit invalid", "A limit is more than zero. Leave it out, or clear it, for no limit.", 422],
  account_limits_out_of_order: [
    "Account limits out of order",
    "The daily limit is at most the monthly one, and that at most the yearly one.",
    422,
  ],
  address_not_allowed: [
    "Address not allowed",
    "The key may be used only from certain addresses (allowed_ips), and this is none of them.",
    403,
  ],
  admin_required: ["Operator's key required", "This needs an operator's key. A business's key cannot be used here.", 403],
  api_key_expired: ["API key expired", "This key has expired. Use a newer one, or have one issued.", 401],
  api_key_in_use: ["API key in use", "A key does not revoke itself. Revoke it with another key of the business.", 409],
  api_key_limit_reached: ["Too many API keys", "Revoke a key that is no longer used, then issue the new one.", 409],
  api_key_limits_exceeded: [
    "Wider than the key that asks",
    "A key with an end or for some networks issues none that goes beyond them. Issue it with a key without limits.",
    422,
  ],
  api_key_name_taken: ["Name already in use", "Another live key of the business has this name. Choose another name.", 409],
  api_key_replaced: ["API key was just replaced", "Another request rotated or revoked the key. Go on with its successor.", 409],
  api_key_revoked: ["API key revoked", "This key was revoked or replaced. Use the new one.", 401],
  beneficiary_needs_iban_or_account_number: [
    "IBAN or account number needed",
    "A beneficiary needs an IBAN or an account number. Send one of them.",
    422,
  ],
  body_too_large: ["Body too large", "The request's body exceeds 1 MiB. Send a smaller one.", 413],
  business_disabled: ["Business disabled", "This business is disabled, so its keys do not work. Ask your operator.", 401],
  business_key_required: [
    "Business key required",
    "This needs the key of a business. An operator's key cannot be used here.",
    403,
  ],
  business_not_found: ["Business not found", "The business named in the request does not exist. Check its id.", 404],
  business_pending: [
    "Business awaits approval",
    "This business awaits approval. Its keys will work once an operator has approved it.",
    401,
  ],
  business_rejected: ["Business rejected", "This business was rejected, so its keys do not work.", 401],
  client_blocked: ["Client blocked", "A blocked client gets nothing new. Unblock it first, or leave client_id out.", 409],
  client_not_found: ["Client not found", "The client named in the request does not exist. Check its id.", 404],
  client_not_verified: ["Client not verified", "Activate the account once the client's kyc_status is VALIDATED.", 409],
  client_underage: ["Client too young", "A client must be 18 or older today, in UTC. Check the date of birth.", 422],
  currency_not_supported: ["Currency not supported", "The detail lists what accounts can be held in.", 422],
  dead_letter_failed: ["Event failed again", "The detail has the reason. Fix the cause and retry, or drop the event.", 409],
  dead_letter_forged: [
    "Event is not authentic",
    "The message was rejected and has no effect. If it is genuine, publish it again. Drop the dead letter.",
    409,
  ],
  dead_letter_over: ["Dead letter has ended", "It was delivered or dropped, and stays so.", 409],
  delivery_attempt_limit_reached: [
    "Too many delivery attempts",
    "The business has reached its limit of attempts in 24 hours for redeliveries, replays and tests. Try again later; new events are still delivered.",
    409,
  ],
  email_taken: ["E-mail address taken", "Another client of the business has it. Use that client or another address.", 409],
  endpoint_checked_recently: [
    "Checked a moment ago",
    "A webhook endpoint is checked at most once in ten seconds. Wait, then check again.",
    409,
  ],
  event_without_delivery: ["Event had no delivery there", "An event goes again only to endpoints that were to get it.", 409],
  expectation_failed: [
    "Expectation failed",
    "Expect takes 100-continue and nothing else. Send the request without the header.",
    417,
  ],
  external_account_id_taken: [
    "External id taken",
    "Another account of the business has this external_account_id. Use another one.",
    409,
  ],
  headers_too_large: [
    "Headers too large",
    "The request has more than 100 headers or 16 KiB of them. Send fewer or shorter headers.",
    431,
  ],
  idempotency_in_progress: [
    "First request still running",
    "A request with this Idempotency-Key is being worked on. Send the same request again in a few seconds.",
    409,
  ],
  idempotency_key_reused: [
    "Idempotency key reused",
    "The key was used for another request. Use a new key for a new request.",
    422,
  ],
  immutable_field: ["Field cannot be changed", "Leave the named field out of the request.", 422],
  internal_error: ["Internal error", "Something went wrong on our side. Support finds it by the request id.", 500],
  invalid_api_key: ["Invalid API key", "This is not a key we know. Check that it was copied whole.", 401],
  invalid_idempotency_key: [
    "Invalid idempotency key",
    "Idempotency-Key must be 1 to 255 visible ASCII characters. A UUID is a good choice.",
    400,
  ],
  invalid_invitation: [
    "Invalid invitation",
    "Send the token of an invitation as Authorization: Bearer <token>. This one is unknown, revoked or has expired.",
    401,
  ],
  invalid_json: [
    "Invalid JSON",
    "The body must be one JSON object in UTF-8 without repeated keys, with at most 32 levels and 10 000 values.",
    400,
  ],
  invalid_signature: ["Invalid signature", "The callback was not signed by the verification provider, or too long ago.", 401],
  invalid_status_transition: [
    "Status cannot change like this",
    "Read the present status; the detail says what is possible.",
    409,
  ],
  invitation_used: ["Invitation used", "An invitation registers one business. Ask whoever invited you for another one.", 409],
  kyc_application_final: ["KYC application is final", "COMPLETED, EXPIRED and CANCELED stay so. Create a new application.", 409],
  kyc_in_progress: ["Verification in progress", "What was submitted is being checked. Wait for the outcome.", 409],
  kyc_provider_error: ["Verification provider error", "The verification provider refused the request. Check its fields.", 502],
  kyc_provider_unavailable: [
    "Verification provider unavailable",
    "It gives no answer right now. Send the same request with the same Idempotency-Key again in a moment.",
    503,
  ],
  kyc_review_in_progress: [
    "Decision on its way",
    "Another decision is being handed over. Read the application again in a minute.",
    409,
  ],
  kyc_review_not_open: ["No review to decide", "Only an application with the verdict NEEDS_REVIEW can be decided.", 409],
  last_operator_key: ["Last operator's key", "Issue another operator's key first, then revoke this one with it.", 409],
  malformed_request: [
    "Malformed request",
    "The request is not well-formed HTTP. Check its headers and the framing of its body.",
    400,
  ],
  method_not_allowed: ["Method not allowed", "The Allow header lists what this address answers.", 405],
  missing_api_key: ["API key missing", "Send your key as Authorization: Bearer <key> or as X-API-Key: <key>.", 401],
  not_found: ["Not found", "There is nothing at this address that your key may see. Check the path and the id.", 404],
  onboarding_details_exist: ["Onboarding details exist", "A client has one set of details. Change them with PATCH.", 409],
  onboarding_details_incomplete: ["Onboarding details incomplete", "Send the missing fields too.", 422],
  onboarding_details_not_found: ["No onboarding details yet", "Create them with POST or PATCH, then read them.", 404],
  onboarding_locked: [
    "Onboarding is locked",
    "Details change only before verification begins. current_step tells where it is.",
    409,
  ],
  operator_key_name_taken: ["Name already in use", "Another operator's live key has this name. Choose another name.", 409],
  outcome_unknown: ["Outcome unknown", "Read before you repeat the request, or repeat it with an Idempotency-Key.", 504],
  payment_detail_invalid: [
    "Payment detail invalid",
    "The detail says what the field takes. Send a good value, or clear it.",
    422,
  ],
  payment_not_refundable: ["Payment cannot be refunded", "Only a PAID payment can be refunded, and only once.", 409],
  processor_error: ["Card processor error", "The card processor answered with an error. Nothing was taken.", 502],
  overloaded: ["Overloaded", "More is being asked than can be answered in time. Nothing was done; try again in a moment.", 503],
  processor_outcome_unknown: [
    "Outcome unknown",
    "The card processor did not answer in time. Read the payment before you create another one.",
    504,
  ],
  rate_limited: [
    "Too many requests",
    "Too many requests. Wait for the seconds that Retry-After names, then go on more slowly.",
    429,
  ],
  refund_amount_invalid: ["Refund amount invalid", "The amount must be above zero and at most what was paid.", 422],
  refund_decision_not_open: [
    "No decision to take",
    "Only a refund that waits for an operator can be decided, once. List them with needs_decision=true.",
    409,
  ],
  refund_in_progress: ["Refund in progress", "A refund of this payment is being worked on. Read the payment in a moment.", 409],
  refund_outcome_unknown: [
    "Refund outcome unknown",
    "The card processor did not answer in time. We find out and tell you by webhook; read the payment meanwhile.",
    504,
  ],
  refunds_held: [
    "Refunds are held",
    "Our records were restored, and refunds wait until what was sent before must have shown. Ask again at refundable_at.",
    503,
  ],
  refund_refused: ["Refund refused", "The card processor refused the refund; processor_error_code has its reason.", 422],
  replay_in_progress: ["Replay in progress", "One replay at a time to each webhook endpoint. Wait until it is DONE.", 409],
  replay_range_empty: ["Nothing to replay", "since must be before until, and before now. Send an earlier since.", 422],
  request_timeout: ["Request timed out", "The request did not arrive in time. Send it again.", 408],
  service_unavailable: ["Service unavailable", "A part of the service cannot be reached right now. Try again in a moment.", 503],
  unknown_event_type: ["Unknown event type", "The documentation lists the types that endpoints can ask for.", 422],
  unsupported_media_type: [
    "Unsupported media type",
    "The body must be JSON in UTF-8, without compression. Send it with Content-Type: application/json.",
    415,
  ],
  upstream_timeout: ["No answer in time", "The answer did not come in time. Read the state before you try again.", 504],
  url_has_credentials: [
    "URL with credentials",
    "Leave user name and password out. Check the signature of deliveries instead.",
    422,
  ],
  url_has_fragment: ["URL with a fragment", "Leave out what follows the number sign; it would never be sent.", 422],
  url_invalid: ["Invalid URL", "Send an absolute address such as https://shop.example/webhooks.", 422],
  url_not_https: ["URL without https", "Deliveries go over https only.", 422],
  url_not_public: ["URL not public", "The host must be reachable on the public internet.", 422],
  url_too_long: ["URL too long", "A URL may have 2048 characters.", 422],
  validation_failed: ["Validation failed", "The errors member names each field and what it takes.", 422],
  webhook_endpoint_disabled: ["Webhook endpoint disabled", "Set its status to ACTIVE first.", 409],
  webhook_endpoint_limit_reached: [
    "Too many webhook endpoints",
    "A business may have 20. Delete one that is no longer used.",
    409,
  ],
  webhook_endpoint_not_found: [
    "Webhook endpoint not found",
    "The endpoint named in the request does not exist. Check its id.",
    404,
  ],
} as const satisfies Readonly<Record<string, Entry>>;

export type ProblemCode = keyof typeof problemCatalogue;

const catalogue: ReadonlyMap<string, Entry> = new Map(Object.entries(problemCatalogue));

export function problemAdvice(code: string): Entry | undefined {
  return catalogue.get(code);
}

/** The title of a code; one that services added is spelled out. */
export function problemTitle(code: string): string {
  const words = code.replaceAll("_", " ");
  return catalogue.get(code)?.[0] ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
