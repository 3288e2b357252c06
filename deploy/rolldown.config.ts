import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

/**
 * Makes a service of an image one file of JavaScript, and one for its migrations, at the
 * workspace's root: `SERVICE=payments rolldown -c deploy/rolldown.config.ts`. `OUT_DIR` names
 * another folder. Names and lines stay as they are written, so that a stack trace can be read.
 * `SERVICE=cli` bundles the command `amana` for the tests, with a file for each dynamic import.
 */
const service = process.env["SERVICE"];
const root = process.cwd();
const outDir = process.env["OUT_DIR"] ?? ".";
/** The way from the output to the root, which ends in a slash if there is one. */
const toRoot = relative(resolve(outDir), root).replace(/(.)$/, "$1/");
const programs =
  service === "cli"
    ? [["amana", "cli/src/amana.ts"]]
    : ["main", "migrate"].map((name) => [name, `services/${service}/src/${name}.ts`]);
const input = Object.fromEntries(programs.filter(([, file]) => existsSync(file ?? "")));

/** What our modules read besides, such as migrations, lies where it lay. */
const places = {
  name: "places",
  transform(code: string, id: string) {
    const place = relative(root, id);
    if (!/^(cli|packages|services)\//.test(place) || place.includes("node_modules") || !code.includes("import.meta."))
      return null;
    return code
      .replaceAll("import.meta.dirname", `(import.meta.dirname + ${JSON.stringify(`/${toRoot}${dirname(place)}`)})`)
      .replaceAll("import.meta.url", `new URL(${JSON.stringify(toRoot + place)}, import.meta.url).href`);
  },
};

export default {
  input,
  platform: "node",
  // jsonc-parser: bundlers do not find the imports of its CommonJS build, and Node cannot resolve
  // the imports of its ESM build.
  resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  // pg asks for it and does without.
  external: ["pg-native"],
  plugins: [places],
  checks: { eval: false },
  output: {
    dir: outDir,
    format: "esm",
    comments: false,
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
  },
};
