import { withTimeout } from "@amana/runtime";
import { createTransport, type SendMailOptions } from "nodemailer";
import type { Address } from "nodemailer/lib/mailer/index.js";

/** Settings of the SMTP server. */
export interface MailSettings {
  /** URL: smtp://user:password@host:port or smtps://user:password@host:port. */
  readonly url: string;
  /** Sender: an e-mail address, or a name and an e-mail address in angle brackets. */
  readonly from: string;
  /** Requires TLS (STARTTLS) on an smtp connection. */
  readonly requireTls: boolean;
  /** Time limit for the connection, for the server's greeting and for each response. */
  readonly timeoutMs: number;
}

/** An e-mail to one recipient. */
export interface Mail extends Required<Pick<SendMailOptions, "subject" | "text" | "html" | "attachments">> {
  /** A valid address; see `parseEmailAddress`. */
  readonly to: string;
  /** Part of the Message-ID before the @. An e-mail that is sent again has the same id. */
  readonly id: string;
}

/**
 * Error of an e-mail whose acceptance the SMTP server did not confirm. The error's message contains
 * no e-mail address.
 */
export class MailNotAccepted extends Error {
  override readonly name = "MailNotAccepted";
  /** True if the server rejected the recipient or the content. A retry would then fail, too. */
  readonly isPermanent: boolean;

  constructor(message: string, isPermanent: boolean) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

export interface Mailer extends Disposable {
  /** Resolves when the server has accepted the e-mail. Throws `MailNotAccepted`. */
  send(mail: Mail): Promise<void>;
}

/**
 * Time limit for sending one e-mail, as a multiple of `timeoutMs`. Without this limit, a server
 * that responds slowly could keep a connection open forever.
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
      // Prevents an unhandled rejection if `sendMail` fails after the timeout.
      sending.catch(() => {});
      await withTimeout(timeoutsOfMail * timeoutMs, sending).catch((error: unknown) => {
        throw mailErrorOf(error);
      });
    },
    [Symbol.dispose]: () => transport.close(),
  };
}

/**
 * Converts an error of nodemailer. Omits the error's text, because SMTP servers repeat the
 * recipient's address in their responses.
 */
function mailErrorOf(error: unknown): MailNotAccepted {
  const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string };
  const details = Object.entries({ code, response: responseCode, command }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  );
  // The rejection of a login or sender is not permanent, because an operator can correct the
  // configuration.
  const isAboutMail = command === "RCPT TO" || command === "DATA";
  const isPermanent = responseCode !== undefined && responseCode >= 500 && isAboutMail;
  return new MailNotAccepted(
    details.length > 0
      ? `the SMTP server did not accept the e-mail: ${details.join(", ")}`
      : "the SMTP server did not respond in time",
    isPermanent,
  );
}
