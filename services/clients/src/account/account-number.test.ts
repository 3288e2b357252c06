import fc from "fast-check";
import { expect, test } from "vitest";
import { buildAccountNumber } from "./account-number.ts";

test.each([
  ["007", "99999", 23_456_789n, "00799999002345678941"],
  ["001", "00001", 1n, "00100001000000000144"],
  ["004", "00100", 1_234_567_890n, "00400100123456789038"],
])(
  "buildAccountNumber for the bank code %s, the branch code %s and the account %i returns %s",
  (bankCode, branchCode, account, number) => {
    expect(buildAccountNumber({ bankCode, branchCode }, account)).toBe(number);
  },
);

test("buildAccountNumber returns the check key 97 if the digits of branch code and account form a multiple of 97", () => {
  // The digits of branch code and account form a multiple of 97.
  expect(buildAccountNumber({ bankCode: "001", branchCode: "00000" }, 97n)).toBe("00100000000000009797");
});

const codeOf = (digits: number) => fc.stringMatching(new RegExp(`^[0-9]{${digits}}$`));
const anInstitution = fc.record({ bankCode: codeOf(3), branchCode: codeOf(5) });
const anAccount = fc.bigInt({ min: 1n, max: 9_999_999_999n });

test("buildAccountNumber returns a number of 20 digits, and the last 17 digits are a multiple of 97", () => {
  fc.assert(
    fc.property(anInstitution, anAccount, ({ bankCode, branchCode }, account) => {
      const number = buildAccountNumber({ bankCode, branchCode }, account);
      expect(number).toMatch(/^\d{20}$/);
      expect(number.slice(0, 8)).toBe(bankCode + branchCode);
      expect(BigInt(number.slice(8, 18))).toBe(account);
      expect(BigInt(number.slice(3)) % 97n).toBe(0n);
    }),
  );
});

test("the last 17 digits of an account number are not a multiple of 97 if one digit of the branch code or account is wrong", () => {
  fc.assert(
    fc.property(anInstitution, anAccount, fc.integer({ min: 3, max: 17 }), fc.nat(9), (institution, account, position, digit) => {
      const number = buildAccountNumber(institution, account);
      fc.pre(number[position] !== String(digit));
      const mistypedNumber = number.slice(0, position) + digit + number.slice(position + 1);
      expect(BigInt(mistypedNumber.slice(3)) % 97n).not.toBe(0n);
    }),
  );
});

test.each([0n, -1n, 10_000_000_000n])("buildAccountNumber throws a RangeError for the account sequence number %i", (account) => {
  expect(() => buildAccountNumber({ bankCode: "001", branchCode: "00001" }, account)).toThrow(RangeError);
});
