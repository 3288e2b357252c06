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

/**
 * Error of an e-mail that the SMTP server did not accept. Its message contains no e-mail address.
 */
export class MailRejected extends Error {
  override readonly name = "MailRejected";
  /** True if the server rejected the e-mail or its recipient, so that a retry would fail, too. */
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

/**
 * Maximum time of an e-mail, as a multiple of `timeoutMs`. Without it, a server with slow responses
 * could keep a connection open forever.
 */
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
 * Converts an error of nodemailer without its text, because servers repeat the recipient's address
 * in their responses.
 */
function rejectionOf(error: unknown): MailRejected {
  const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string };
  const details = Object.entries({ code, response: responseCode, command }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  );
  // A rejected login or sender is not permanent, because an operator can correct the configuration.
  const isAboutMail = command === "RCPT TO" || command === "DATA";
  const isPermanent = responseCode !== undefined && responseCode >= 500 && isAboutMail;
  return new MailRejected(details.length > 0 ? `e-mail not accepted: ${details.join(", ")}` : "no response in time", isPermanent);
}
