import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";

/**
 * Writes one bundle for each program of a service (the service, its migrations, its checks) to the
 * root of the workspace or to `OUT_DIR`: `SERVICE=payments rolldown -c deploy/rolldown.config.ts`.
 * Names of functions stay unchanged, so that stack traces are readable. `SERVICE=cli` bundles the
 * command `amana` for the tests, with a file for each dynamic import.
 */
const service = process.env["SERVICE"];
const root = process.cwd();
const outDir = process.env["OUT_DIR"] ?? ".";
/** Relative path from `outDir` to the root. If it is not empty, it ends with a slash. */
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

/** Does not bundle playwright-core, because it reads files of its installed package. */
const installedPlaywright = {
  name: "installed-playwright",
  resolveId(source: string) {
    if (source !== "playwright-core") return null;
    const packageFile = createRequire(resolve(root, "cli/package.json")).resolve("playwright-core/package.json");
    return { id: join(dirname(packageFile), "index.mjs"), external: true };
  },
};

/**
 * Replaces imports of node:http by imports without its getters. If an ES module imports node:http,
 * Node evaluates all getters of node:http. Some getters load Node's copy of undici, which needs a
 * tenth of the CPU time of a service's start.
 */
const httpWithoutGetters = {
  name: "http-without-getters",
  resolveId: (source: string, _importer: string | undefined, { kind }: { kind: string }) =>
    source === "node:http" && kind === "import-statement" ? `\0${source}` : null,
  load(id: string) {
    if (id !== "\0node:http") return null;
    const properties = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule("node:http")));
    const names = properties.filter(([, { get }]) => !get).map(([name]) => name);
    return `const http = process.getBuiltinModule("node:http"); export default http; export const { ${names.join()} } = http;`;
  },
};

export default {
  input,
  platform: "node",
  // Selects the ESM build of jsonc-parser, because bundlers do not find the imports of its CommonJS
  // build. Without a bundler, Node can load only the CommonJS build.
  resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  // Excludes the optional native binding of pg, because it is not installed.
  external: ["pg-native"],
  plugins: [sourcePaths, installedPlaywright, httpWithoutGetters],
  checks: { eval: false },
  output: {
    dir: outDir,
    format: "esm",
    comments: false,
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
  },
};
