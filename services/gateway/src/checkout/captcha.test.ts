import { solveChallenge } from "altcha-lib";
import { deriveKey } from "altcha-lib/algorithms/pbkdf2";
import { afterEach, expect, test, vi } from "vitest";
import { Captcha } from "./captcha.ts";

const key = Buffer.alloc(32, 1);
const form = { linkToken: "link", formToken: "form-1" };
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

async function solve(captcha: Captcha) {
  const challenge = JSON.parse(await captcha.createChallenge(form));
  return { challenge, solution: await solveChallenge({ challenge, deriveKey }) };
}

afterEach(() => void vi.useRealTimers());

test("Captcha accepts a solved challenge if the form and the link are those for which the challenge was created", async () => {
  const captcha = new Captcha([key]);
  expect(await captcha.isSolved(encode(await solve(captcha)), form)).toBe(true);
});

test("Captcha rejects a solution if its challenge was created for another form or another link", async () => {
  const captcha = new Captcha([key]);
  const solved = await solve(captcha);
  expect(await captcha.isSolved(encode(solved), { ...form, formToken: "form-2" })).toBe(false);
  expect(await captcha.isSolved(encode(solved), { ...form, linkToken: "other" })).toBe(false);
  solved.challenge.parameters.data.form = "form-2";
  expect(await captcha.isSolved(encode(solved), { ...form, formToken: "form-2" })).toBe(false);
});

test("Captcha rejects a wrong solution and a challenge without a solution", async () => {
  const captcha = new Captcha([key]);
  const { challenge, solution } = await solve(captcha);
  expect(await captcha.isSolved(encode({ challenge, solution: { ...solution, derivedKey: "00".repeat(32) } }), form)).toBe(false);
  expect(await captcha.isSolved(encode({ challenge }), form)).toBe(false);
});

test("Captcha rejects a solution after the challenge has expired", async () => {
  const captcha = new Captcha([key]);
  const solved = encode(await solve(captcha));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31 * 60_000 });
  expect(await captcha.isSolved(solved, form)).toBe(false);
});

test("Captcha accepts a solution if the challenge was signed with one of Captcha's keys, and rejects any other signature", async () => {
  const solved = encode(await solve(new Captcha([key])));
  expect(await new Captcha([Buffer.alloc(32, 2), key]).isSolved(solved, form)).toBe(true);
  expect(await new Captcha([Buffer.alloc(32, 2)]).isSolved(solved, form)).toBe(false);
});

test.each(["", "x", encode(null), encode({}), encode({ challenge: { parameters: { data: { link: "link", form: "form-1" } } } })])(
  "Captcha rejects the malformed solution %j",
  async (text) => {
    expect(await new Captcha([key]).isSolved(text, form)).toBe(false);
  },
);
