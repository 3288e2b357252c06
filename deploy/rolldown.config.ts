import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";

/**
 * Writes one bundle for each program of a service (the service, its migrations, its checks) to the
 * root of the workspace or to `OUT_DIR`: `SERVICE=payments rolldown -c deploy/rolldown.config.ts`.
 * Names and lines are kept, so that stack traces are readable. `SERVICE=cli` bundles the command
 * `amana` for the tests, with a file for each dynamic import.
 */
const service = process.env["SERVICE"];
const root = process.cwd();
const outDir = process.env["OUT_DIR"] ?? ".";
/** Relative path from the output to the root. It ends with a slash unless it is empty. */
const toRoot = relative(resolve(outDir), root).replace(/(.)$/, "$1/");
const programs =
  service === "cli"
    ? [["amana", "cli/src/amana.ts"]]
    : ["main", "migrate", "check-providers"].map((name) => [name, `services/${service}/src/${name}.ts`]);
const input = Object.fromEntries(programs.filter(([, file]) => existsSync(file ?? "")));

/**
 * Replaces the `import.meta` paths of source modules, so that the bundle finds files that they
 * read, such as migrations.
 */
const sourcePaths = {
  name: "source-paths",
  transform(code: string, id: string) {
    const path = relative(root, id);
    if (!/^(cli|packages|services)\//.test(path) || path.includes("node_modules") || !code.includes("import.meta.")) return null;
    return code
      .replaceAll("import.meta.dirname", `(import.meta.dirname + ${JSON.stringify(`/${toRoot}${dirname(path)}`)})`)
      .replaceAll("import.meta.url", `new URL(${JSON.stringify(toRoot + path)}, import.meta.url).href`);
  },
};

/** playwright-core reads files of its package, so the bundle imports the installed package. */
const installedPlaywright = {
  name: "installed-playwright",
  resolveId(source: string) {
    if (source !== "playwright-core") return null;
    const packageFile = createRequire(resolve(root, "cli/package.json")).resolve("playwright-core/package.json");
    return { id: join(dirname(packageFile), "index.mjs"), external: true };
  },
};

export default {
  input,
  platform: "node",
  // jsonc-parser: bundlers do not find the imports of its CommonJS build, and Node cannot resolve
  // the imports of its ESM build.
  resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  // Optional native binding of pg, which is not installed.
  external: ["pg-native"],
  plugins: [sourcePaths, installedPlaywright],
  checks: { eval: false },
  output: {
    dir: outDir,
    format: "esm",
    comments: false,
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
  },
};
