import { DomainError } from "@amana/rpc";
import type { AccountStatus } from "./account.ts";

export const accountNotFound = () => new DomainError("not_found", "not_found", "There is no such account.");

export const accountStatusFixed = (verb: string, from: readonly AccountStatus[], status: AccountStatus) =>
  new DomainError(
    "conflict",
    "invalid_status_transition",
    `The account is ${status}; only one that is ${from.join(" or ")} can be ${verb}. Read the account for its present status.`,
    { members: { account_status: status } },
  );

export const accountClosed = () =>
  new DomainError(
    "conflict",
    "account_closed",
    "The account is CLOSED for good: its name and limits stay. Change only description or external_account_id, or open another.",
    { members: { account_status: "CLOSED" } },
  );

export const clientNotVerified = () =>
  new DomainError(
    "conflict",
    "client_not_verified",
    "The client is not verified. Activate the account once the client's kyc_status is VALIDATED.",
  );

export const accountBalanceNotZero = () =>
  new DomainError(
    "conflict",
    "account_balance_not_zero",
    "Only an account with zero balances can be closed. Empty the account and wait for what is reserved, then close it.",
  );

export const externalAccountIdTaken = () =>
  new DomainError(
    "conflict",
    "external_account_id_taken",
    "Another account of this business has this external_account_id. Use that account, or send another id.",
    { pointer: "/external_account_id" },
  );

export const currencyNotSupported = (currencies: readonly string[]) =>
  new DomainError("invalid", "currency_not_supported", `Accounts are held in ${currencies.join(", ")}. Send one of these.`, {
    pointer: "/currency",
  });

export const accountLimitInvalid = (limit: string) =>
  new DomainError("invalid", "account_limit_invalid", `The ${limit} must be more than zero. Leave it out for no limit.`, {
    pointer: `/${limit}`,
  });

export const accountLimitsOutOfOrder = (smaller: string, larger: string, at: string) =>
  new DomainError(
    "invalid",
    "account_limits_out_of_order",
    `The ${smaller} must not be above the ${larger}. Change one of them so that daily, monthly and yearly limits do not fall.`,
    { pointer: `/${at}` },
  );

export const accountNotActive = (status: AccountStatus) =>
  new DomainError(
    "conflict",
    "account_not_active",
    `The account is ${status}; only an ACTIVE account transacts. Activate it first.`,
    {
      members: { account_status: status },
    },
  );

export const insufficientFunds = () =>
  new DomainError("conflict", "insufficient_funds", "The available balance does not cover the amount. Send a smaller amount.");

export const accountLimitExceeded = (limit: string) =>
  new DomainError(
    "conflict",
    "account_limit_exceeded",
    `The amount goes beyond the account's ${limit}. Send a smaller amount, wait for the next period, or raise the limit.`,
    { members: { limit } },
  );

export const postingNotFound = () =>
  new DomainError("not_found", "posting_not_found", "The account has no such posting. Check its id.");

export const holdNotOpen = () =>
  new DomainError("conflict", "hold_not_open", "The hold was captured or released already. Place a new one.");

export const captureTooLarge = () =>
  new DomainError("invalid", "capture_too_large", "No more can be captured than was held. Send a smaller amount.");

export const postingNotReversible = () =>
  new DomainError(
    "conflict",
    "posting_not_reversible",
    "Only a credit, a debit or a capture can be reversed, and only once. Post the opposite instead.",
  );

export const postingReferenceReused = () =>
  new DomainError(
    "conflict",
    "posting_reference_reused",
    "This reference names another posting of the account. Use a new reference for a new posting.",
  );
