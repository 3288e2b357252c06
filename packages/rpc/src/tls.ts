import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { type Logger, poll } from "@amana/runtime";

/** PEM files of a process's certificate. */
export interface TlsFiles {
  /** The certificate with its chain, without the CA. */
  readonly certFile: string;
  readonly keyFile: string;
  /** The CA that signs only the certificates of this deployment's services. */
  readonly caFile: string;
}

type Material = Awaited<ReturnType<typeof read>>;

/** A process's certificate for calls between services. */
export interface Tls extends AsyncDisposable {
  /** Current contents of the files. */
  readonly material: Material;
  /** Calls the listener after each change. */
  onChange(listener: () => void): void;
}

const pollEveryMs = 5_000;

/**
 * Reads the certificate, and reads it again every few seconds, because a secret store that swaps
 * symbolic links raises no file event. Throws when the certificate is unusable at the start. Later,
 * an unusable certificate is logged, and the last usable certificate stays in use.
 */
export async function openTls(files: TlsFiles, logger: Logger, pauseMs: number = pollEveryMs): Promise<Tls> {
  let material = await read(files);
  const listeners: (() => void)[] = [];
  const polling = poll(
    "certificates",
    logger,
    async () => {
      const currentMaterial = await read(files);
      if (isSame(currentMaterial, material)) return 0;
      material = currentMaterial;
      for (const listener of listeners) listener();
      logger.info("RPC certificate reloaded");
      return 0;
    },
    pauseMs,
  );
  return {
    get material() {
      return material;
    },
    onChange: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: () => polling[Symbol.asyncDispose](),
  };
}

/** Reads the files. Throws if they do not match, which happens while they are being replaced. */
async function read({ certFile, keyFile, caFile }: TlsFiles) {
  const [cert, key, ca] = await Promise.all([readFile(certFile), readFile(keyFile), readFile(caFile)]);
  createSecureContext({ cert, key, ca });
  return { cert, key, ca };
}

const isSame = (a: Material, b: Material) => a.cert.equals(b.cert) && a.key.equals(b.key) && a.ca.equals(b.ca);
