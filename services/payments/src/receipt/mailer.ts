import { withTimeout } from "@amana/runtime";
import { createTransport, type SendMailOptions } from "nodemailer";
import type { Address } from "nodemailer/lib/mailer/index.js";

/** Settings of the SMTP server. */
export interface MailSettings {
  /** smtp://user:password@host:port, or smtps. */
  readonly url: string;
  /** Sender: an address, or a name and an <address>. */
  readonly from: string;
  /** Requires TLS (STARTTLS) on an smtp connection. */
  readonly requireTls: boolean;
  /** Maximum time of the connection, the greeting and each response. */
  readonly timeoutMs: number;
}

/** An e-mail to one recipient. */
export interface Mail extends Required<Pick<SendMailOptions, "subject" | "text" | "html" | "attachments">> {
  /** A valid address; see `parseEmailAddress`. */
  readonly to: string;
  /** Part of the Message-ID before the @. Repeated e-mails have the same id. */
  readonly id: string;
}

/** The SMTP server did not accept an e-mail. The message contains no address. */
export class MailRejected extends Error {
  override readonly name = "MailRejected";
  /** The server rejected the e-mail or its recipient, and a repetition would be rejected too. */
  readonly isPermanent: boolean;

  constructor(message: string, isPermanent: boolean) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

export interface Mailer extends Disposable {
  /** Resolves when the server has accepted the e-mail. Throws `MailRejected`. */
  send(mail: Mail): Promise<void>;
}

/** Limit for a server that responds slowly and never completes, as a multiple of `timeoutMs`. */
const timeoutsOfMail = 5;

/** Creates a client of an SMTP server. Each e-mail uses a new connection. */
export function createMailer({ url, from, requireTls, timeoutMs }: MailSettings): Mailer {
  const transport = createTransport(
    {
      url,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      ...(requireTls && { requireTLS: true }),
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  );
  const sender = /<([^<>]+)>$/.exec(from)?.[1] ?? from;
  const [, domain = "localhost"] = sender.split("@");

  return {
    async send({ to, id, ...content }) {
      const address: Address = { name: "", address: to };
      const sending = transport.sendMail({
        ...content,
        to: address,
        envelope: { from: sender, to: [to] },
        messageId: `<${id}@${domain}>`,
        headers: { "Auto-Submitted": "auto-generated" },
      });
      // After the timeout, the outcome of the attempt has no effect.
      sending.catch(() => {});
      await withTimeout(timeoutsOfMail * timeoutMs, sending).catch((error: unknown) => {
        throw rejectionOf(error);
      });
    },
    [Symbol.dispose]: () => transport.close(),
  };
}

/**
 * Converts an error of nodemailer. Its text is not used, because servers repeat the address in
 * their responses.
 */
function rejectionOf(error: unknown): MailRejected {
  const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string };
  const details = Object.entries({ code, response: responseCode, command }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  );
  // A rejected login or sender is a fault of the configuration, which an operator can correct.
  const isAboutMail = command === "RCPT TO" || command === "DATA";
  const isPermanent = responseCode !== undefined && responseCode >= 500 && isAboutMail;
  return new MailRejected(details.length > 0 ? `e-mail not accepted: ${details.join(", ")}` : "no response in time", isPermanent);
}
