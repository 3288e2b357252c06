import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { type Logger, poll } from "@amana/runtime";

/** Where a process's certificate is, PEM. */
export interface TlsFiles {
  /** With the chain up to, not with, the CA. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Who signs the certificates of this deployment's services, and nobody else's. */
  readonly caFile: string;
}

type Material = Awaited<ReturnType<typeof read>>;

/** A process's certificate for calls between services, as the files say now. */
export interface Tls extends AsyncDisposable {
  readonly material: Material;
  /** Told of every change. */
  onChange(listener: () => void): void;
}

const lookEveryMs = 5_000;

/**
 * Reads the certificate, and reads it again every few seconds: links that a secret store swaps
 * raise no event one could wait for. Throws when it is not usable; later on what is not usable is
 * logged, and the last good one stays in use.
 */
export async function openTls(files: TlsFiles, logger: Logger, pauseMs: number = lookEveryMs): Promise<Tls> {
  let material = await read(files);
  const listeners: (() => void)[] = [];
  const looking = poll(
    "certificates",
    logger,
    async () => {
      const found = await read(files);
      if (isSame(found, material)) return 0;
      material = found;
      for (const listener of listeners) listener();
      logger.info("the certificate for calls between services has changed");
      return 0;
    },
    pauseMs,
  );
  return {
    get material() {
      return material;
    },
    onChange: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: () => looking[Symbol.asyncDispose](),
  };
}

/** Throws when the three do not fit, as while they are being replaced. */
async function read({ certFile, keyFile, caFile }: TlsFiles) {
  const [cert, key, ca] = await Promise.all([readFile(certFile), readFile(keyFile), readFile(caFile)]);
  createSecureContext({ cert, key, ca });
  return { cert, key, ca };
}

const isSame = (a: Material, b: Material) => a.cert.equals(b.cert) && a.key.equals(b.key) && a.ca.equals(b.ca);
