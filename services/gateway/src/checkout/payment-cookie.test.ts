import { expect, test } from "vitest";
import { PaymentCookie } from "./payment-cookie.ts";

const oldKey = Buffer.alloc(32, 1);
const newKey = Buffer.alloc(32, 2);
const link = "k3v9Qk2mZxW1r0uYt5nB7A";
const payment = "a".repeat(64);

const written = (keys: Buffer[], isSecure = true) => new PaymentCookie(keys).write(link, payment, { isSecure });
const cookieOf = (setCookie: string) => setCookie.split(";", 1)[0] as string;

test("PaymentCookie writes a cookie that is HttpOnly, SameSite=Lax, limited to the link's pages, and Secure only for https", () => {
  const [value, ...attributes] = written([newKey]).split("; ");
  expect(value).toMatch(new RegExp(`^amana_checkout=${payment}\\.[\\w-]{43}$`));
  expect(attributes).toEqual([`Path=/pay/${link}`, "Max-Age=3600", "HttpOnly", "SameSite=Lax", "Secure"]);
  expect(written([newKey], false)).not.toContain("Secure");
});

test("PaymentCookie finds its cookie among other cookies and returns the payment's page token", () => {
  const cookie = new PaymentCookie([newKey]);
  expect(cookie.read(`theme=dark; ${cookieOf(written([newKey]))}; x=1`, link)).toBe(payment);
});

test("PaymentCookie accepts a cookie that was signed with any of its keys, and ignores a cookie that was signed with another key", () => {
  const value = cookieOf(written([oldKey]));
  expect(new PaymentCookie([newKey, oldKey]).read(value, link)).toBe(payment);
  expect(new PaymentCookie([newKey]).read(value, link)).toBeUndefined();
});

test.each([
  ["of another link", (value: string) => value, "otherLink"],
  ["with another payment", (value: string) => value.replace(payment, "b".repeat(64)), link],
  ["with a changed signature", (value: string) => `${value.slice(0, -2)}AA`, link],
  ["without a signature", (value: string) => value.split(".")[0] as string, link],
  ["with another name", (value: string) => `x${value}`, link],
])("PaymentCookie ignores a cookie %s", (_name, change, linkToken) => {
  expect(new PaymentCookie([newKey]).read(change(cookieOf(written([newKey]))), linkToken)).toBeUndefined();
});

test("PaymentCookie returns undefined without a Cookie header", () => {
  expect(new PaymentCookie([newKey]).read(undefined, link)).toBeUndefined();
});
