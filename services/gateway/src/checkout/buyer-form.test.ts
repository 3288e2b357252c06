import { PaymentLinkSchema, CustomerFieldRule as Rule } from "@amana/contracts/payments/v1/payment_link_pb";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { checkForm, emptyForm, readSubmittedForm, type SubmittedForm } from "./buyer-form.ts";

const token = "0123456789abcdef0123";
const fixed = create(PaymentLinkSchema, { amountMinor: 500_000n });
const range = create(PaymentLinkSchema, { amountMinMinor: 5_000n, amountMaxMinor: 1_000_000_00n });
const accepted = { ...emptyForm(token), acceptsConditions: true };
const withFields = (rule: Rule) =>
  create(PaymentLinkSchema, { amountMinor: 500_000n, customerFields: { name: rule, email: rule, phone: rule } });

const check = (link: typeof fixed, typed: Partial<SubmittedForm>) => checkForm(link, { ...accepted, ...typed });

describe("readSubmittedForm", () => {
  test("readSubmittedForm returns the buyer's input without leading and trailing spaces", () => {
    const body = new URLSearchParams({
      form_token: token,
      lang: "AR",
      name: " أمينة ",
      conditions: "on",
      altcha: "x",
      amount: "1 500",
    });
    expect(readSubmittedForm(Buffer.from(String(body)))).toEqual({
      ...accepted,
      language: "ar",
      name: "أمينة",
      captcha: "x",
      amount: "1 500",
    });
  });

  test.each(["", "short", "with space 0123456789", "x".repeat(65)])(
    "readSubmittedForm returns undefined for the form token %j",
    (value) => {
      expect(readSubmittedForm(Buffer.from(String(new URLSearchParams({ form_token: value }))))).toBeUndefined();
    },
  );

  test("readSubmittedForm reads at most 1,000 characters of a field", () => {
    const body = new URLSearchParams({ form_token: token, name: "n".repeat(60_000) });
    expect(readSubmittedForm(Buffer.from(String(body)))?.name).toHaveLength(1_000);
  });
});

describe("checkForm", () => {
  test("checkForm requires the acceptance of the conditions, and ignores the amount if the link has a fixed price", () => {
    expect(check(fixed, { amount: "1" })).toEqual({ values: {}, errors: {} });
    expect(check(fixed, { acceptsConditions: false }).errors).toEqual({ conditions: "conditions_missing" });
  });

  test.each([
    ["1500", 150_000n],
    ["1500,5", 150_050n],
    ["1500.05", 150_005n],
    ["1 500,00 DZD", 150_000n],
    ["1\u202f500 DA", 150_000n],
    ["1.500", 150_000n],
    ["1,500.25", 150_025n],
    ["١٥٠٠٫٢٥", 150_025n],
    ["۵۰", 5_000n],
    ["50", 5_000n],
    ["1000000", 1_000_000_00n],
  ])("checkForm accepts the amount format %j", (amount, amountMinor) => {
    expect(check(range, { amount })).toEqual({ values: { amountMinor }, errors: {} });
  });

  test.each([
    ["", "amount_missing"],
    ["DZD", "amount_missing"],
    ["abc", "amount_malformed"],
    ["-50", "amount_malformed"],
    ["1e5", "amount_malformed"],
    ["1500,505", "amount_malformed"],
    ["0.500", "amount_malformed"],
    ["1".repeat(13), "amount_malformed"],
    ["49,99", "amount_out_of_range"],
    ["1000000,01", "amount_out_of_range"],
  ])("checkForm rejects the amount %j with %s", (amount, code) => {
    expect(check(range, { amount })).toEqual({ values: {}, errors: { amount: code } });
  });

  test.each([
    ["0550 12 34 56", "+213550123456"],
    ["021.12.34.567", "+213211234567"],
    ["٠٥٥٠١٢٣٤٥٦", "+213550123456"],
    ["+33 6 12 34 56 78", "+33612345678"],
    ["00 213 550-12-34-56", "+213550123456"],
  ])("checkForm converts the phone number %j to the format E.164", (phone, customerPhone) => {
    expect(check(withFields(Rule.OPTIONAL), { phone })).toEqual({ values: { customerPhone }, errors: {} });
  });

  test.each(["0550", "550123456", "+0123456789", "+1234567890123456", "call me"])(
    "checkForm rejects the phone number %j",
    (phone) => {
      expect(check(withFields(Rule.OPTIONAL), { phone }).errors).toEqual({ phone: "phone_malformed" });
    },
  );

  test.each(["x", "a@b", "a b@c.dz", "a@b..dz", "<a@b.dz>", `${"a".repeat(250)}@b.dz`])(
    "checkForm rejects the e-mail address %j",
    (email) => {
      expect(check(withFields(Rule.OPTIONAL), { email }).errors).toEqual({ email: "email_malformed" });
    },
  );

  test("checkForm reports empty required fields, and accepts empty optional fields", () => {
    expect(check(withFields(Rule.REQUIRED), {}).errors).toEqual({
      name: "name_missing",
      email: "email_missing",
      phone: "phone_missing",
    });
    expect(check(withFields(Rule.OPTIONAL), {})).toEqual({ values: {}, errors: {} });
  });

  test("checkForm ignores values of hidden fields", () => {
    expect(check(withFields(Rule.HIDDEN), { name: "n", email: "bad", phone: "bad" })).toEqual({ values: {}, errors: {} });
  });

  test("checkForm removes hidden characters from a name, and rejects a name that is empty or too long without these characters", () => {
    const link = withFields(Rule.OPTIONAL);
    expect(check(link, { name: "Am\u202eina\u200b" }).values).toEqual({ customerName: "Amina" });
    expect(check(link, { name: "\u200b\u202e" }).errors).toEqual({ name: "name_missing" });
    expect(check(link, { name: "n".repeat(121) }).errors).toEqual({ name: "name_too_long" });
  });
});
