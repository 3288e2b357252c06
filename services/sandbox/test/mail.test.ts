import { connect } from "node:net";
import { languages } from "@amana/pages";
import { isBrowserMissing, launchBrowser } from "@amana/testing/browser";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/app.ts";
import { aSandbox, type Json } from "./a-sandbox.ts";
import { checkAppearance, checkSmallScreens } from "./check-appearance.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await aSandbox({ smtpPort: 0 });
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const pdf = "%PDF-1.7 content";
const message = (subject: string) =>
  [
    "From: Amana <receipts@amana.test>",
    "To: buyer@example.com",
    `Subject: ${subject}`,
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="b"',
    "",
    "--b",
    'Content-Type: multipart/alternative; boundary="a"',
    "",
    "--a",
    "Content-Type: text/plain; charset=utf-8",
    "",
    "Voici le reçu <script>alert(1)</script>",
    "--a",
    "Content-Type: text/html; charset=utf-8",
    "",
    "<p>Voici</p>",
    "--a--",
    "--b",
    "Content-Type: application/pdf",
    'Content-Disposition: attachment; filename="reçu 1.pdf"',
    "Content-Transfer-Encoding: base64",
    "",
    Buffer.from(pdf).toString("base64"),
    "--b--",
  ].join("\r\n");

/** Sends an e-mail and returns the last response of the SMTP server. */
async function sendMail(source: string, to = "buyer@example.com"): Promise<string> {
  const socket = connect(sandbox.smtpPort ?? 0, "127.0.0.1");
  const lines = socket.setEncoding("utf8")[Symbol.asyncIterator]();
  const commands = ["EHLO test", "MAIL FROM:<receipts@amana.test>", `RCPT TO:<${to}>`, "DATA", `${source}\r\n.`];
  await lines.next();
  let response = "";
  for (const command of commands) {
    socket.write(`${command}\r\n`);
    response = (await lines.next()).value;
  }
  socket.destroy();
  return response;
}

const readMails = async () => (await (await fetch(`${sandbox.url}/mail.json`)).json()) as Json[];

describe("received e-mails", () => {
  test("GET /mail.json returns the received e-mails, newest first, and GET of an attachment returns its content", async () => {
    expect(await sendMail(message("First"))).toMatch(/^250/);
    expect(await sendMail(message("Second"))).toMatch(/^250/);
    const [second, first] = await readMails();
    expect([second.subject, first.subject]).toEqual(["Second", "First"]);
    expect(second).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      from: '"Amana" <receipts@amana.test>',
      to: "buyer@example.com",
      subject: "Second",
      text: "Voici le reçu <script>alert(1)</script>",
      html: "<p>Voici</p>",
      attachments: [{ filename: "reçu 1.pdf", content_type: "application/pdf", size: pdf.length }],
    });
    const attachment = await fetch(`${sandbox.url}/mail/${second.id}/attachments/0`);
    expect(await attachment.text()).toBe(pdf);
    expect(attachment.headers.get("content-type")).toBe("application/pdf");
    expect(attachment.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''re%C3%A7u%201.pdf");
  });

  test.each(["/mail/x/attachments/0", "/mail/ID/attachments/1", "/mail/ID/attachments/x"])(
    "GET %s returns status 404 for an unknown e-mail attachment",
    async (path) => {
      await sendMail(message("Any"));
      const [{ id }] = await readMails();
      expect((await fetch(`${sandbox.url}${path.replace("ID", id)}`)).status).toBe(404);
    },
  );

  test("GET /mail escapes the text of an e-mail and does not show its HTML part", async () => {
    await sendMail(message("<b>bold</b>"));
    const response = await fetch(`${sandbox.url}/mail?lang=en`);
    const text = await response.text();
    expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none';/);
    expect(text).toContain("&lt;b&gt;bold&lt;/b&gt;");
    expect(text).not.toContain("<script>alert");
    expect(text).not.toContain("<p>Voici</p>");
  });

  test("the sandbox's SMTP server rejects an e-mail of more than 2 MiB and keeps at most 200 e-mails", async () => {
    expect(await sendMail(`Subject: large\r\n\r\n${"x".repeat(70)}\r\n`.padEnd(2_200_000, `${"y".repeat(70)}\r\n`))).toMatch(
      /^552/,
    );
    await Promise.all(Array.from({ length: 205 }, (_, number) => sendMail(`Subject: ${number}\r\n\r\ntext`)));
    expect(await readMails()).toHaveLength(200);
  });
});

test("GET /mail states that the SMTP server is off if SANDBOX_SMTP_PORT is not set", async () => {
  await using sandboxWithoutSmtp = await aSandbox();
  expect(sandboxWithoutSmtp.smtpPort).toBeUndefined();
  expect(await (await fetch(`${sandboxWithoutSmtp.url}/mail?lang=en`)).text()).toContain("Set SANDBOX_SMTP_PORT to start it.");
  expect(await (await fetch(`${sandboxWithoutSmtp.url}/mail.json`)).json()).toEqual([]);
});

describe.skipIf(isBrowserMissing("browser tests of e-mails"))("received e-mails in a browser", () => {
  test.each(languages)(
    "the sandbox's e-mail page in the language %s has no axe violations, no horizontal overflow and no target below 44 pixels",
    async (language) => {
      await sendMail(message("إيصال الدفع – Librairie"));
      const browser: Browser = await launchBrowser();
      const page = await browser.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(`${sandbox.url}/mail?lang=${language}`);
      await checkAppearance(page, language, "e-mails");
      await checkSmallScreens(page, "e-mails");
      if (process.env["SHOTS_DIR"]) await page.screenshot({ path: `${process.env["SHOTS_DIR"]}/mail-${language}.png` });
      await browser.close();
    },
  );
});
