import { conflict, invalid, notFound } from "@amana/rpc";

export const accountNotFound = () => notFound("not_found", "There is no account with this id. Check the id.");

export const accountStatusConflict = (verb: string, allowedStatuses: readonly string[], status: string) =>
  conflict(
    "invalid_status_transition",
    `The account is ${status}. Only an account that is ${allowedStatuses.join(" or ")} can be ${verb}. Read the account for its current status.`,
    { members: { account_status: status } },
  );

export const accountClosed = () =>
  conflict(
    "account_closed",
    "The account is CLOSED, so its name and limits cannot change. Change only description or external_account_id, or open another account.",
    { members: { account_status: "CLOSED" } },
  );

export const clientNotVerified = () =>
  conflict("client_not_verified", "The client is not verified. Activate the account when the client's kyc_status is VALIDATED.");

export const accountBalanceNotZero = () =>
  conflict(
    "account_balance_not_zero",
    "Only an account with zero balances can be closed. Empty the account and wait until no amount is reserved, then close it.",
  );

export const externalAccountIdTaken = () =>
  conflict(
    "external_account_id_taken",
    "Another account of this business has this external_account_id. Use that account, or send another id.",
    { pointer: "/external_account_id" },
  );

export const currencyNotSupported = (currencies: readonly string[]) =>
  invalid("currency_not_supported", `The currency is not supported. Send one of ${currencies.join(", ")}.`, {
    pointer: "/currency",
  });

export const accountLimitInvalid = (limit: string) =>
  invalid("account_limit_invalid", `The ${limit} must be greater than zero. Omit it for no limit.`, {
    pointer: `/${limit}`,
  });

export const accountLimitsOutOfOrder = (shorterLimit: string, longerLimit: string, pointerField: string) =>
  invalid("account_limits_out_of_order", `The ${shorterLimit} must not be greater than the ${longerLimit}. Change one of them.`, {
    pointer: `/${pointerField}`,
  });

export const accountNotActive = (status: string) =>
  conflict(
    "account_not_active",
    `The account is ${status}. Only an ACTIVE account accepts postings. Activate the account first.`,
    {
      members: { account_status: status },
    },
  );

export const insufficientFunds = () =>
  conflict("insufficient_funds", "The available balance does not cover the amount. Send a smaller amount.");

export const accountLimitExceeded = (limit: string) =>
  conflict(
    "account_limit_exceeded",
    `The amount exceeds the account's ${limit}. Send a smaller amount, wait for the next period, or increase the limit.`,
    { members: { limit } },
  );

export const postingNotFound = () => notFound("posting_not_found", "The account has no posting with this id. Check the id.");

export const holdNotOpen = () => conflict("hold_not_open", "The hold was already captured or released. Place a new hold.");

export const captureTooLarge = () => invalid("capture_too_large", "The amount exceeds the hold. Send a smaller amount.");

export const postingNotReversible = () =>
  conflict(
    "posting_not_reversible",
    "Only a credit, a debit or a capture can be reversed, and only once. Create an opposite posting instead.",
  );

export const postingReferenceReused = () =>
  conflict(
    "posting_reference_reused",
    "Another posting of the account has this reference. Use a new reference for a new posting.",
  );
