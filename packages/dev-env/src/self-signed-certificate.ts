import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * Creates a private key and a self-signed certificate for localhost and 127.0.0.1, which is valid
 * for two days. Writes both as PEM files to `dir`. Runs openssl, because Node cannot create
 * certificates.
 */
export async function createSelfSignedCertificate(dir: string): Promise<{ keyFile: string; certFile: string }> {
  const [keyFile, certFile] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  await promisify(execFile)(
    "openssl",
    ["req", "-x509", ...newKey, "-days", "2", ...subject, "-keyout", keyFile, "-out", certFile],
    {
      timeout: 30_000,
    },
  );
  return { keyFile, certFile };
}
