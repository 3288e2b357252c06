import fc from "fast-check";
import { expect, test } from "vitest";
import { accountNumber } from "./account-number.ts";

test.each([
  ["007", "99999", 23_456_789n, "00799999002345678941"],
  ["001", "00001", 1n, "00100001000000000144"],
  ["004", "00100", 1_234_567_890n, "00400100123456789038"],
])("accountNumber returns, for bank %s, branch %s and account %i, %s", (bankCode, branchCode, account, number) => {
  expect(accountNumber({ bankCode, branchCode }, account)).toBe(number);
});

test("accountNumber uses 97 as the key if the remainder is 0", () => {
  // Branch and account form a multiple of 97.
  expect(accountNumber({ bankCode: "001", branchCode: "00000" }, 97n)).toBe("00100000000000009797");
});

const code = (digits: number) => fc.stringMatching(new RegExp(`^[0-9]{${digits}}$`));
const institution = fc.record({ bankCode: code(3), branchCode: code(5) });
const account = fc.bigInt({ min: 1n, max: 9_999_999_999n });

test("accountNumber returns 20 digits with bank, branch and account, and a key that makes branch, account and key a multiple of 97", () => {
  fc.assert(
    fc.property(institution, account, ({ bankCode, branchCode }, account) => {
      const number = accountNumber({ bankCode, branchCode }, account);
      expect(number).toMatch(/^\d{20}$/);
      expect(number.slice(0, 8)).toBe(bankCode + branchCode);
      expect(BigInt(number.slice(8, 18))).toBe(account);
      expect(BigInt(number.slice(3)) % 97n).toBe(0n);
    }),
  );
});

test("the key detects any wrong digit of branch or account", () => {
  fc.assert(
    fc.property(institution, account, fc.integer({ min: 3, max: 17 }), fc.nat(9), (codes, account, at, digit) => {
      const number = accountNumber(codes, account);
      fc.pre(number[at] !== String(digit));
      const mistyped = number.slice(0, at) + digit + number.slice(at + 1);
      expect(BigInt(mistyped.slice(3)) % 97n).not.toBe(0n);
    }),
  );
});

test.each([0n, -1n, 10_000_000_000n])("accountNumber throws for account %i", (account) => {
  expect(() => accountNumber({ bankCode: "001", branchCode: "00001" }, account)).toThrow(RangeError);
});
