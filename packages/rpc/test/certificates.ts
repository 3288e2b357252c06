import { execFile } from "node:child_process";
import { copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TlsFiles } from "../src/tls.ts";

const run = promisify(execFile);
const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"];

/** Creates a CA with openssl, as an operator would. */
export async function createCa(folder: string) {
  await mkdir(folder, { recursive: true });
  const [key, cert] = [join(folder, "ca-key.pem"), join(folder, "ca.pem")];
  const subject = ["-subj", "/CN=test CA", "-addext", "basicConstraints=critical,CA:TRUE"];
  await run("openssl", ["req", "-x509", ...newKey, "-days", "2", ...subject, "-keyout", key, "-out", cert]);

  return {
    cert,
    /** Issues a certificate. With `days` 0, the certificate has already expired. */
    async issue(
      name: string,
      {
        days = 2,
        names = "DNS:localhost",
        usage = "serverAuth,clientAuth",
      }: { days?: number; names?: string; usage?: string } = {},
    ): Promise<TlsFiles> {
      const pathOf = (kind: string) => join(folder, `${name}-${kind}.pem`);
      await writeFile(pathOf("ext"), `subjectAltName=${names}\nextendedKeyUsage=${usage}\nbasicConstraints=CA:FALSE\n`);
      await run("openssl", ["req", "-new", ...newKey, "-subj", `/CN=${name}`, "-keyout", pathOf("key"), "-out", pathOf("csr")]);
      const signed = ["-CA", cert, "-CAkey", key, "-days", String(days), "-extfile", pathOf("ext")];
      await run("openssl", ["x509", "-req", "-in", pathOf("csr"), ...signed, "-out", pathOf("cert")]);
      return { certFile: pathOf("cert"), keyFile: pathOf("key"), caFile: cert };
    },
  };
}

/** Replaces the files atomically, as a secret store does. */
export async function replace(files: TlsFiles, replacements: TlsFiles): Promise<void> {
  for (const name of ["certFile", "keyFile", "caFile"] as const) {
    await rm(`${files[name]}.new`, { force: true });
    await copyFile(replacements[name], `${files[name]}.new`);
    await rename(`${files[name]}.new`, files[name]);
  }
}
