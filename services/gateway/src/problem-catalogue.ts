type Entry = readonly [title: string, advice: string, status: number];

/**
 * Title, advice and status of each problem code. The pages under /problems show them. The advice
 * is the detail of a problem document that has no more specific text.
 */
export const problemCatalogue = {
  account_balance_not_zero: [
    "Account balance is not zero",
    "The account has money or reserved amounts. Bring all balances to zero, then close the account.",
    409,
  ],
  account_closed: [
    "Account is closed",
    "The name and the limits of a closed account cannot be changed. Change only description or external_account_id, or open another account.",
    409,
  ],
  account_limit_invalid: [
    "Account limit is invalid",
    "A limit must be greater than zero. For no limit, leave the field out or clear it with null.",
    422,
  ],
  account_limits_out_of_order: [
    "Account limits are out of order",
    "The daily limit must not exceed the monthly limit, and the monthly limit must not exceed the yearly limit. Change one of them.",
    422,
  ],
  address_not_allowed: [
    "IP address is not allowed",
    "The allowed_ips of the API key do not include the IP address of the caller. Call from an allowed address or use another key.",
    403,
  ],
  admin_required: [
    "Operator key required",
    "This operation requires an operator key. The request was sent with the key of a business.",
    403,
  ],
  api_key_expired: ["API key has expired", "The expires_at of the API key has passed. Use another key or issue a new one.", 401],
  api_key_in_use: [
    "API key is in use by this request",
    "An API key cannot revoke itself. Revoke it with another key of the business.",
    409,
  ],
  api_key_limit_reached: [
    "API key limit reached",
    "The business has the maximum number of live API keys. Revoke a key that is no longer used, then issue the new one.",
    409,
  ],
  api_key_limits_exceeded: [
    "Limits of the issuing key exceeded",
    "A key with expires_at or allowed_ips cannot issue a key with wider limits. Narrow the limits of the new key, or issue it with a key without limits.",
    422,
  ],
  api_key_name_taken: [
    "API key name is already in use",
    "Another live API key of the business has this name. Choose another name.",
    409,
  ],
  api_key_replaced: [
    "API key was replaced",
    "The API key of the request was replaced, or a concurrent request revoked it. Use the key that replaced it, or another live key.",
    409,
  ],
  api_key_revoked: ["API key was revoked", "The API key was revoked or replaced. Use a live key of the business.", 401],
  beneficiary_needs_iban_or_account_number: [
    "IBAN or account number required",
    "A beneficiary must have an IBAN or an account number. Send one of them.",
    422,
  ],
  body_too_large: ["Request body too large", "The request body exceeds the limit of 1 MiB. Send a smaller body.", 413],
  business_disabled: [
    "Business is disabled",
    "The business is disabled, so its API keys are rejected. Contact the operator.",
    401,
  ],
  business_key_required: [
    "Business key required",
    "This operation requires the API key of a business. The request was sent with an operator key.",
    403,
  ],
  business_not_found: ["Business not found", "No business has the business_id in the request. Check the id.", 404],
  business_pending: [
    "Business is pending approval",
    "The API keys of the business are rejected until an operator approves it. Wait for the approval.",
    401,
  ],
  business_rejected: [
    "Business was rejected",
    "An operator rejected the business, so its API keys are rejected. Contact the operator.",
    401,
  ],
  client_blocked: [
    "Client is blocked",
    "A blocked client gets no new account, beneficiary or KYC application, and its accounts cannot be activated. Unblock the client first.",
    409,
  ],
  client_not_found: ["Client not found", "No client of the business has the client_id in the request. Check the id.", 404],
  client_not_verified: [
    "Client is not verified",
    "An account can be activated only for a verified client. Activate it when the kyc_status of the client is VALIDATED.",
    409,
  ],
  client_underage: ["Client is under 18", "A client must be at least 18 years old today (UTC). Check date_of_birth.", 422],
  currency_not_supported: [
    "Currency is not supported",
    "Accounts cannot be held in this currency. Use one of the currencies in the detail.",
    422,
  ],
  dead_letter_failed: [
    "Dead-lettered message failed again",
    "The retry failed and changed nothing. The detail contains the reason. Fix the cause and retry, or drop the dead-lettered message.",
    409,
  ],
  dead_letter_forged: [
    "Dead-lettered message is not authentic",
    "The message was rejected and has no effect. If it is genuine, publish it again. Drop the dead-lettered message.",
    409,
  ],
  dead_letter_over: [
    "Dead-lettered message is final",
    "The dead-lettered message was already delivered or dropped, and its status cannot change.",
    409,
  ],
  delivery_attempt_limit_reached: [
    "Delivery attempt limit reached",
    "The business has reached its limit of attempts in 24 hours for redeliveries, replays and tests. Try again later. New events are still delivered.",
    409,
  ],
  email_taken: [
    "E-mail address is already in use",
    "Another client of the business has this e-mail address. Use that client or another address.",
    409,
  ],
  endpoint_checked_recently: [
    "Webhook endpoint was checked recently",
    "A webhook endpoint can be checked at most once in ten seconds. Wait, then check it again.",
    409,
  ],
  event_without_delivery: [
    "Event has no delivery to the endpoint",
    "An event can be redelivered only to endpoints that it has a delivery for. Read the event with GET /events/{id} instead.",
    409,
  ],
  expectation_failed: [
    "Expectation failed",
    "The Expect header supports only 100-continue. Send the request without the header.",
    417,
  ],
  external_account_id_taken: [
    "External account id is already in use",
    "Another account of the business has this external_account_id. Send another id.",
    409,
  ],
  headers_too_large: [
    "Request headers too large",
    "The request exceeds the limit of 100 headers and 16 KiB. Send fewer or shorter headers.",
    431,
  ],
  idempotency_in_progress: [
    "First request is still in progress",
    "A request with this Idempotency-Key is still in progress. Send the same request again in a few seconds.",
    409,
  ],
  idempotency_key_reused: [
    "Idempotency key was reused",
    "The Idempotency-Key was used for a different request. Use a new key for a new request.",
    422,
  ],
  immutable_field: ["Field cannot be changed", "The request contains a field that cannot be changed. Leave it out.", 422],
  internal_error: [
    "Internal error",
    "The request failed because of an error in Amana. Contact support with the request id.",
    500,
  ],
  invalid_api_key: ["Invalid API key", "The API key does not exist. Check that it was copied completely.", 401],
  invalid_idempotency_key: [
    "Invalid idempotency key",
    "Idempotency-Key must have 1 to 255 visible ASCII characters, for example a UUID.",
    400,
  ],
  invalid_invitation: [
    "Invalid invitation",
    "The invitation token is missing, unknown, revoked or expired. Send a valid token as Authorization: Bearer <token>.",
    401,
  ],
  invalid_json: [
    "Invalid JSON",
    "The body must be one JSON object in UTF-8 without repeated keys, with at most 32 levels and 10 000 values.",
    400,
  ],
  invalid_signature: [
    "Invalid signature",
    "The callback has no valid signature of the verification provider, or its signature is too old.",
    401,
  ],
  invalid_status_transition: [
    "Status change is not allowed",
    "The current status does not allow this change. The detail lists the allowed changes.",
    409,
  ],
  invitation_used: [
    "Invitation cannot be used",
    "The invitation was used or revoked, or has expired. Request a new invitation from the operator.",
    409,
  ],
  kyc_application_final: [
    "KYC application is final",
    "An application that is COMPLETED, EXPIRED or CANCELED cannot change. Create a new application.",
    409,
  ],
  kyc_in_progress: [
    "Verification is in progress",
    "The applicant has submitted documents and the verification is in progress. Wait for the result.",
    409,
  ],
  kyc_provider_error: [
    "Verification provider error",
    "The verification provider rejected the request. Check the fields of the request, and contact the operator if they are correct.",
    502,
  ],
  kyc_provider_unavailable: [
    "Verification provider unavailable",
    "The verification provider does not respond. Send the same request with the same Idempotency-Key again in a few seconds.",
    503,
  ],
  unsupported_by_provider: [
    "Field not supported by the verification provider",
    "The verification provider of this deployment cannot fulfil the field. Omit it, or set the value that the message names.",
    422,
  ],
  kyc_review_in_progress: [
    "Another decision is in progress",
    "Another decision on this application is being sent to the verification provider. Read the application again in a minute.",
    409,
  ],
  kyc_review_not_open: [
    "KYC application needs no review",
    "Only an application with the verdict NEEDS_REVIEW can be decided. Read the application for its current state.",
    409,
  ],
  last_operator_key: [
    "Last operator key",
    "The last live operator key cannot be revoked. Issue another operator key, and use it to revoke this key.",
    409,
  ],
  malformed_request: ["Malformed request", "The request is not valid HTTP. Check its headers and the framing of its body.", 400],
  method_not_allowed: [
    "Method not allowed",
    "The path does not support this method. The Allow header lists the supported methods.",
    405,
  ],
  missing_api_key: ["API key is missing", "Send your API key as Authorization: Bearer <key> or as X-API-Key: <key>.", 401],
  not_found: [
    "Not found",
    "The path or id does not exist or is not accessible with this API key. Check the path and the id.",
    404,
  ],
  onboarding_details_exist: [
    "Onboarding details already exist",
    "The client already has onboarding details. Change them with PATCH.",
    409,
  ],
  onboarding_details_incomplete: [
    "Onboarding details are incomplete",
    "Required fields are missing. Send the fields that the errors member lists.",
    422,
  ],
  onboarding_details_not_found: [
    "Onboarding details not found",
    "The client has no onboarding details yet. Create them with POST or PATCH.",
    404,
  ],
  onboarding_locked: [
    "Onboarding details are locked",
    "Onboarding details cannot be changed after verification has begun. current_step contains the step of the client.",
    409,
  ],
  operator_key_name_taken: [
    "Operator key name is already in use",
    "Another live operator key has this name, or the name is reserved. Choose another name.",
    409,
  ],
  outcome_unknown: [
    "Outcome unknown",
    "The request was sent, but no response arrived. Read the current state before you repeat the request, or repeat it with the same Idempotency-Key.",
    504,
  ],
  payment_detail_invalid: [
    "Payment detail is invalid",
    "The detail states the format that the field requires. Send a valid value or clear the field.",
    422,
  ],
  payment_link_full: [
    "Payment link has no free slot",
    "Payments of other customers occupy the remaining slots. Try again in a few minutes.",
    409,
  ],
  payment_link_not_available: [
    "Payment link is not available",
    "The seller has deactivated the payment link, it has expired, or it has reached max_payments. Contact the seller.",
    409,
  ],
  payment_link_not_found: ["Payment link not found", "There is no payment link with this id. Check the id.", 404],
  payment_not_refundable: [
    "Payment cannot be refunded",
    "Only a PAID payment can be refunded, and only once. Read the payment for its current status.",
    409,
  ],
  receipt_email_limit_reached: [
    "Limit of receipt e-mails reached",
    "The receipt of a payment is sent by e-mail at most five times. Use its page or its PDF.",
    409,
  ],
  receipt_email_not_available: [
    "Receipts are not sent by e-mail",
    "This deployment does not send e-mail. Use the page or the PDF of the receipt.",
    409,
  ],
  receipt_not_available: [
    "Payment has no receipt",
    "Only a PAID or REFUNDED payment has a receipt. Read the payment for its current status.",
    409,
  ],
  receipt_not_rendered: [
    "PDF of the receipt could not be created",
    "Use the page of the receipt at receipt_url instead, or try again in ten minutes.",
    503,
  ],
  processor_error: [
    "Card processor error",
    "The card processor rejected the payment. No money was charged. Create a new payment.",
    502,
  ],
  overloaded: [
    "Service overloaded",
    "The service cannot process more requests at the moment. The request had no effect. Send it again in a few seconds.",
    503,
  ],
  processor_outcome_unknown: [
    "Payment outcome unknown",
    "The card processor did not respond in time. Read the payment before you create another one, or send the same request with the same Idempotency-Key again.",
    504,
  ],
  rate_limited: [
    "Rate limit exceeded",
    "The caller sends too many requests. Wait for the number of seconds in Retry-After, then send requests at a lower rate.",
    429,
  ],
  refund_amount_invalid: [
    "Refund amount is invalid",
    "The refund amount must be greater than zero and must not exceed the paid amount.",
    422,
  ],
  refund_attempt_limit_reached: [
    "Refund attempt limit reached",
    "The card processor refused 30 refunds of this payment within 24 hours. Find the cause in the processor_error_code of these refusals, or contact the operator. Send the request again at refundable_at.",
    409,
  ],
  refund_decision_not_open: [
    "Refund needs no decision",
    "Only a refund with needs_decision can be decided, and only once. List these refunds with GET /admin/refunds?needs_decision=true.",
    409,
  ],
  refund_in_progress: [
    "Refund is in progress",
    "A refund of this payment is in progress. Read the payment again in a minute.",
    409,
  ],
  refund_outcome_unknown: [
    "Refund outcome unknown",
    "The card processor did not respond in time. Amana determines the outcome and reports it by webhook. Read the payment in a minute, and do not refund it by other means.",
    504,
  ],
  refunds_held: [
    "Refunds are on hold",
    "Refunds are on hold after a restore or failover, until all earlier refund requests have taken effect. Send the request again at refundable_at.",
    503,
  ],
  refund_refused: [
    "Refund was refused",
    "The card processor refused the refund, and the payment stays PAID. processor_error_code contains the reason.",
    422,
  ],
  replay_in_progress: [
    "Replay is in progress",
    "A webhook endpoint can have one replay at a time. Wait until the current replay is DONE.",
    409,
  ],
  replay_range_empty: [
    "Replay range is empty",
    "No time in the last 30 days is in the range from since to until. Send an earlier since or a later until.",
    422,
  ],
  request_timeout: ["Request timed out", "The complete request did not arrive in time. Send it again.", 408],
  service_unavailable: [
    "Service unavailable",
    "A part of the service is unavailable. Send the request again in a few seconds.",
    503,
  ],
  statement_not_ready: [
    "Statement is not ready",
    "Earlier payments are being added to statements after an upgrade. Try again in a few minutes.",
    503,
  ],
  unknown_event_type: [
    "Unknown event type",
    "The event type does not exist. The documentation lists the event types of webhook endpoints.",
    422,
  ],
  unsupported_media_type: [
    "Unsupported media type",
    "The body must be uncompressed JSON in UTF-8. Send it with Content-Type: application/json.",
    415,
  ],
  upstream_timeout: [
    "Request not completed in time",
    "The service did not respond in time, and the outcome is unknown. Read the current state before you send the request again.",
    504,
  ],
  url_has_credentials: [
    "URL contains credentials",
    "A webhook URL must not contain a user name or password. Remove them, and verify the signature of deliveries instead.",
    422,
  ],
  url_has_fragment: [
    "URL contains a fragment",
    "A webhook URL must not contain a fragment, because HTTP does not transmit it. Remove the number sign and the text after it.",
    422,
  ],
  url_invalid: ["Invalid URL", "The URL is not an absolute URL. Send one such as https://shop.example/webhooks.", 422],
  url_not_https: ["URL does not use https", "Webhooks are delivered over https only. Send an https URL.", 422],
  url_not_public: [
    "URL is not public",
    "The host of the URL is not reachable from the public internet. Send a URL with a public host.",
    422,
  ],
  url_too_long: [
    "URL too long",
    "A URL must have at most 2048 characters, and its host name at most 253. Send a shorter URL.",
    422,
  ],
  validation_failed: [
    "Validation failed",
    "The request has invalid fields or parameters. The errors member lists each of them with the accepted form.",
    422,
  ],
  webhook_endpoint_disabled: [
    "Webhook endpoint is disabled",
    "The status of the webhook endpoint is DISABLED. Set it to ACTIVE first.",
    409,
  ],
  webhook_endpoint_limit_reached: [
    "Webhook endpoint limit reached",
    "A business can have at most 20 webhook endpoints. Delete one that is no longer used.",
    409,
  ],
  webhook_endpoint_not_found: [
    "Webhook endpoint not found",
    "No webhook endpoint of the business has the endpoint_id in the request. Check the id.",
    404,
  ],
} as const satisfies Readonly<Record<string, Entry>>;

export type ProblemCode = keyof typeof problemCatalogue;

/**
 * Returns the title of a code. If the catalogue has no entry for the code, the title consists of
 * the words of the code.
 */
export function problemTitle(code: string): string {
  if (Object.hasOwn(problemCatalogue, code)) return problemCatalogue[code as ProblemCode][0];
  const words = code.replaceAll("_", " ");
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
