import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { readText } from "@amana/runtime";
import { SMTPServer } from "smtp-server";

/**
 * Behaviour of the server. "accept" accepts e-mails. "hang" accepts connections and never responds.
 * An object rejects the recipient or the content with a code.
 */
type Mode = "accept" | "hang" | { readonly at: "recipient" | "data"; readonly code: number };

const mailBytesMax = 1_000_000;

/** An e-mail that the server has accepted. */
export interface ReceivedMail {
  readonly to: string[];
  /** Headers and body as received. */
  readonly source: string;
}

/** Starts an SMTP server that can reject e-mails and that can be stopped. */
export async function startMailServer() {
  const received: ReceivedMail[] = [];
  let mode: Mode = "accept";
  let attempts = 0;
  let port = 0;
  let server: Server | undefined;
  const sockets = new Set<Socket>();

  const rejection = (at: "recipient" | "data", address: string): Error | undefined => {
    if (typeof mode !== "object" || mode.at !== at) return undefined;
    // Real servers repeat the recipient's address in such a response.
    return Object.assign(new Error(`<${address}> rejected`), { responseCode: mode.code });
  };
  const smtp = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    onRcptTo: ({ address }, _session, done) => done(rejection("recipient", address)),
    onData(stream, { envelope }, done) {
      const to = envelope.rcptTo.map(({ address }) => address);
      readText(stream, mailBytesMax).then((source) => {
        const error = rejection("data", to.join());
        if (!error) received.push({ to, source });
        done(error);
      }, done);
    },
  });
  smtp.on("error", () => {});
  await once(smtp.listen(0, "127.0.0.1"), "listening");
  const { port: smtpPort } = smtp.server.address() as { port: number };

  /**
   * Forwards a connection to the SMTP server. Tests can close and reopen the port of this proxy.
   */
  const forward = (socket: Socket) => {
    attempts++;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    if (mode === "hang") return;
    const upstream = connect(smtpPort, "127.0.0.1");
    socket.pipe(upstream).pipe(socket);
    socket.on("close", () => upstream.destroy());
    upstream.on("error", () => socket.destroy());
  };
  const start = async () => {
    server = createServer(forward);
    await once(server.listen(port, "127.0.0.1"), "listening");
    ({ port } = server.address() as { port: number });
  };
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server?.close(resolve));
  };
  await start();

  return {
    url: () => `smtp://127.0.0.1:${port}`,
    received,
    attempts: () => attempts,
    setMode: (newMode: Mode) => {
      mode = newMode;
    },
    /** Closes all connections and the port, so that later connections are refused. */
    stop,
    start,
    async [Symbol.asyncDispose]() {
      await stop();
      await new Promise<void>((resolve) => smtp.close(() => resolve()));
    },
  };
}
