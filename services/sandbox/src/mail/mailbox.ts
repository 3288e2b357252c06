import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";
import type { Clock } from "../clock.ts";

/** An attachment with its content. */
interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Buffer;
}

/** An e-mail that the SMTP server has accepted. */
export interface Mail {
  readonly id: string;
  readonly atMs: number;
  readonly from: string;
  /** Addresses of the recipients, comma-separated. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly attachments: readonly Attachment[];
}

export interface Mailbox extends AsyncDisposable {
  /** The latest e-mails, newest first. */
  readonly mails: readonly Mail[];
  /** Port of the SMTP server; undefined without a server. */
  readonly port: number | undefined;
}

const mailsMax = 200;
const mailBytesMax = 2 * 1024 * 1024;
const totalBytesMax = 50 * 1024 * 1024;

/**
 * Starts an SMTP server that accepts all e-mails and stores the latest e-mails in memory. Without a
 * port, no server is started. Port 0 selects a free port.
 */
export async function openMailbox({ host, port }: { host: string; port: number | undefined }, clock: Clock): Promise<Mailbox> {
  const mails: (Mail & { readonly bytes: number })[] = [];
  const keep = (mail: Mail & { readonly bytes: number }) => {
    mails.unshift(mail);
    const totalBytes = () => mails.reduce((sum, { bytes }) => sum + bytes, 0);
    while (mails.length > mailsMax || totalBytes() > totalBytesMax) mails.pop();
  };
  if (port === undefined) return { mails, port, async [Symbol.asyncDispose]() {} };

  const server = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    size: mailBytesMax,
    onData(stream, { envelope }, done) {
      const to = envelope.rcptTo.map(({ address }) => address).join(", ");
      readMail(stream).then(
        (content) => {
          keep({ id: randomUUID(), atMs: clock.nowMs(), to, ...content });
          done();
        },
        (error: Error) => done(error),
      );
    },
  });
  // Ignores connection errors, because a sender may reset its connection at any time.
  server.on("error", () => {});
  server.listen(port, host);
  await once(server.server, "listening");
  return {
    mails,
    port: (server.server.address() as { port: number }).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function readMail(stream: Readable & { sizeExceeded?: boolean }) {
  let bytes = 0;
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= mailBytesMax) chunks.push(chunk);
  }
  if (bytes > mailBytesMax) throw Object.assign(new Error("The message is too large"), { responseCode: 552 });
  const { from, subject = "", text = "", html, attachments } = await simpleParser(Buffer.concat(chunks));
  return {
    bytes,
    from: from?.text ?? "",
    subject,
    text,
    html: html || "",
    attachments: attachments.map(({ filename = "attachment", contentType, content }) => ({ filename, contentType, content })),
  };
}
