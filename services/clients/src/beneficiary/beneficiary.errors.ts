import { invalid, notFound } from "@amana/rpc";

export const beneficiaryNotFound = () => notFound("not_found", "There is no such beneficiary.");

export const beneficiaryNeedsIbanOrAccountNumber = () =>
  invalid(
    "beneficiary_needs_iban_or_account_number",
    "A beneficiary needs an IBAN or an account number. Send one of them, or leave the one it has.",
    { pointer: "/iban" },
  );

export const paymentDetailInvalid = (field: string, form: string) =>
  invalid("payment_detail_invalid", `The ${field} must be ${form}. Send a good one, or clear it.`, {
    pointer: `/${field}`,
  });
