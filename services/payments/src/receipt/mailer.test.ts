import { afterAll, beforeAll, expect, test } from "vitest";
import { startMailServer } from "../../test/mail-server.ts";
import { createMailer, MailNotAccepted } from "./mailer.ts";

let server: Awaited<ReturnType<typeof startMailServer>>;
beforeAll(async () => {
  server = await startMailServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const mail = { to: "buyer@example.com", id: "1", subject: "Receipt", text: "text", html: "<p>html</p>", attachments: [] };
const aMailer = (changes = {}) =>
  createMailer({ url: server.url(), from: "Amana <receipts@amana.test>", requireTls: false, timeoutMs: 500, ...changes });

test.each([
  ["a rejected recipient", { at: "recipient", code: 550 }, true],
  ["a temporary rejection of the recipient", { at: "recipient", code: 450 }, false],
  ["a rejected content", { at: "data", code: 554 }, true],
  ["no response", "hang", false],
] as const)(
  "the mailer's `send`, for %s, throws a MailNotAccepted that does not contain the recipient's address",
  async (_name, mode, isPermanent) => {
    using mailer = aMailer();
    server.setMode(mode);
    const error: unknown = await mailer.send(mail).catch((error: unknown) => error);
    server.setMode("accept");
    expect(error).toBeInstanceOf(MailNotAccepted);
    expect(error).toMatchObject({ isPermanent });
    expect(String(error)).not.toContain("buyer");
  },
);

test("the mailer's `send` throws a temporary MailNotAccepted if requireTls is set and the SMTP server offers no TLS", async () => {
  using mailer = aMailer({ requireTls: true });
  await expect(mailer.send(mail)).rejects.toMatchObject({ name: "MailNotAccepted", isPermanent: false });
  expect(server.received).toEqual([]);
});
