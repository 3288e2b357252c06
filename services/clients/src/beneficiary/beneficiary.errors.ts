import { invalid, notFound } from "@amana/rpc";

export const beneficiaryNotFound = () => notFound("not_found", "There is no beneficiary with this id. Check the id.");

export const beneficiaryNeedsIbanOrAccountNumber = () =>
  invalid(
    "beneficiary_needs_iban_or_account_number",
    "A beneficiary needs an IBAN or an account number. Send one of them, or keep the stored one.",
    { pointer: "/iban" },
  );

export const paymentDetailInvalid = (field: string, form: string) =>
  invalid("payment_detail_invalid", `The ${field} must be ${form}. Send a valid value, or clear the field.`, {
    pointer: `/${field}`,
  });
