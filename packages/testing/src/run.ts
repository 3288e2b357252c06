/** The command `test`: the whole suite, or the files that match the words given. */
import { spawn } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");
const words = process.argv.slice(2).filter((word) => word !== "--");
const reporters = ["--reporter=default", `--reporter=${join(import.meta.dirname, "closing-line.ts")}`];

const vitest = spawn(join(root, "node_modules", ".bin", "vitest"), ["run", ...reporters, ...words], {
  cwd: root,
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => vitest.kill(signal));
vitest.on("exit", (code) => process.exit(code ?? 1));
