import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readApi } from "./document.ts";
import { goModels, goResources } from "./go.ts";
import { phpResources } from "./php.ts";
import { pythonModels, pythonResources } from "./python.ts";
import { typescriptModels, typescriptResources } from "./typescript.ts";

/**
 * Generates the models and resources of the client libraries from the OpenAPI document. With
 * --check, only reports files that are not up to date.
 */
const api = readApi();
const files: Readonly<Record<string, string>> = {
  "typescript/src/gen/models.ts": typescriptModels(api),
  "typescript/src/gen/resources.ts": typescriptResources(api),
  "python/amana/models.py": pythonModels(api),
  "python/amana/resources.py": pythonResources(api),
  "go/models.go": goModels(api),
  "php/src/resources.php": phpResources(api),
  "go/resources.go": goResources(api),
};

for (const [file, text] of Object.entries(files)) {
  const target = new URL(`../${file}`, import.meta.url);
  if (!process.argv.includes("--check")) {
    mkdirSync(new URL(".", target), { recursive: true });
    writeFileSync(target, text);
  } else if (readFileSync(target, "utf8") !== text) {
    process.stderr.write(`sdks/${file} is not up to date with the OpenAPI document. Run \`npx --yes pnpm@12 generate\`.\n`);
    process.exitCode = 1;
  }
}
