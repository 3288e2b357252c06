import { type Api, capitalised, type Field, type Method, type Type } from "./document.ts";

const header = "// Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.\n";

function textOf(type: Type): string {
  if (type.kind === "enum") return type.values.map((value) => JSON.stringify(value)).join(" | ");
  if (type.kind === "array") return `readonly (${textOf(type.of)})[]`;
  if (type.kind === "model") return type.name;
  const others = { string: "string", integer: "number", number: "number", boolean: "boolean" } as const;
  if (type.kind === "map") return "Readonly<Record<string, unknown>>";
  return type.kind === "json" ? "unknown" : others[type.kind];
}

const fieldOf = ({ name, type, required, nullable, description }: Field) =>
  `${description ? `  /** ${description} */\n` : ""}  readonly ${name}${required ? "" : "?"}: ${textOf(type)}${nullable ? " | null" : ""};\n`;

export function typescriptModels({ models }: Api): string {
  return header + models.map(({ name, fields }) => `\nexport interface ${name} {\n${fields.map(fieldOf).join("")}}\n`).join("");
}

const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

function methodOf({ name, verb, path, summary, pathParameters, input, kind, result }: Method): string {
  const inputName = kind === "list" ? "query" : "body";
  const parameters = [
    ...pathParameters.map((parameter) => `${camel(parameter)}: string`),
    ...(input ? [`${inputName}${input.required ? "" : "?"}: ${qualified({ kind: "model", name: input.model })}`] : []),
    "options?: RequestOptions",
  ];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => `\${segment(${camel(parameter)})}`);
  const quoted = filled === path ? JSON.stringify(path) : `\`${filled}\``;
  const type = result ? qualified(result) : "void";
  const doc = `  /** ${summary} */\n  ${name}(${parameters.join(", ")})`;
  if (kind === "list")
    return `${doc}: List<${type}> {\n    return this.pages(${quoted}, ${input ? "query" : "undefined"}, options);\n  }\n`;
  if (kind === "redirect")
    return `${doc}: Promise<{ location: string }> {\n    return this.redirect("${verb}", ${quoted}, options);\n  }\n`;
  return `${doc}: Promise<${type}> {\n    return this.call("${verb}", ${quoted}, ${input ? "body" : "undefined"}, options);\n  }\n`;
}

/** As seen from the resources' file. */
function qualified(type: Type): string {
  if (type.kind === "model") return `models.${type.name}`;
  return type.kind === "array" ? `readonly ${qualified(type.of)}[]` : textOf(type);
}

export function typescriptResources({ resources }: Api): string {
  const classes = resources.map(
    ({ name, methods }) => `\nclass ${capitalised(name)} extends Resource {\n${methods.map(methodOf).join("\n")}}\n`,
  );
  const fields = resources.map(({ name }) => `  readonly ${name}: ${capitalised(name)};\n`);
  const made = resources.map(({ name }) => `    this.${name} = new ${capitalised(name)}(transport);\n`);
  return `${header}import type { List } from "../list.ts";
import { Resource, segment } from "../resource.ts";
import { type ClientOptions, type RequestOptions, Transport } from "../transport.ts";
import type * as models from "./models.ts";
${classes.join("")}
/** The API with one key. */
export class Amana {
${fields.join("")}
  constructor(options: ClientOptions) {
    const transport = new Transport(options);
${made.join("")}  }
}
`;
}
