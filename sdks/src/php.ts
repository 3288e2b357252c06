import { type Api, capitalised, type Field, type Method, type Model, type Type } from "./document.ts";

const header = `<?php

// Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.

declare(strict_types=1);

namespace Amana;
`;
const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** As an array shape, which the tools of the language check. */
function textOf(type: Type, models: ReadonlyMap<string, Model>): string {
  if (type.kind === "enum") return type.values.map((value) => `'${value}'`).join("|");
  if (type.kind === "array") return `list<${textOf(type.of, models)}>`;
  if (type.kind === "model") return type.name;
  const others = {
    string: "string",
    integer: "int",
    number: "float",
    boolean: "bool",
    json: "mixed",
    map: "array<string, mixed>",
  };
  return others[type.kind as keyof typeof others];
}

function shapeOf({ name, fields }: Model, models: ReadonlyMap<string, Model>): string {
  const memberOf = ({ name, type, required, nullable }: Field) =>
    `${name}${required ? "" : "?"}: ${textOf(type, models)}${nullable ? "|null" : ""}`;
  return ` * @phpstan-type ${name} array{${fields.map(memberOf).join(", ")}}\n`;
}

function methodOf(
  { name, verb, path, summary, pathParameters, input, kind, result }: Method,
  models: ReadonlyMap<string, Model>,
) {
  const keyed = verb === "POST" && kind === "call";
  const inputName = kind === "list" ? "query" : "body";
  const optional = kind === "list" ? "array $query = []" : "?array $body = null";
  const parameters = [
    ...pathParameters.map((parameter) => `string $${camel(parameter)}`),
    ...(input ? [input.required ? `array $${inputName}` : optional] : []),
    ...(keyed ? ["?string $idempotencyKey = null"] : []),
  ].join(", ");
  const texts = path
    .split(/(\{\w+\})/)
    .filter(Boolean)
    .map((part) => (part.startsWith("{") ? `Transport::segment($${camel(part.slice(1, -1))})` : `'${part}'`))
    .join(" . ");
  const answer = result ? textOf(result, models) : "void";
  const native = !result ? "void" : "array";
  const [type, doc, call] = {
    list: ["Pages", `Pages of ${answer}`, `return $this->pages(${texts}, ${input ? "$query" : "[]"})`],
    redirect: ["array", "array{location: string}", `return $this->redirect('${verb}', ${texts})`],
    call: [
      native,
      answer,
      `${result ? "return " : ""}$this->call(${[`'${verb}'`, texts, ...(input ? ["$body"] : []), ...(keyed ? ["idempotencyKey: $idempotencyKey"] : [])].join(", ")})`,
    ],
  }[kind];
  const param = input ? `     * @param ${input.model}${input.required || kind === "list" ? "" : "|null"} $${inputName}\n` : "";
  return `    /**\n     * ${summary}.\n     *\n${param}     * @return ${doc}\n     */\n    public function ${name}(${parameters}): ${type}\n    {\n        ${call};\n    }\n`;
}

export function phpResources({ models, resources }: Api): string {
  const byName = new Map(models.map((model) => [model.name, model]));
  const classes = resources.map(
    ({ name, methods }) =>
      `\nfinal class ${capitalised(name)} extends Resource\n{\n${methods.map((method) => methodOf(method, byName)).join("\n")}}\n`,
  );
  const fields = resources.map(({ name }) => `    public readonly ${capitalised(name)} $${name};\n`);
  const made = resources.map(({ name }) => `        $this->${name} = new ${capitalised(name)}($transport);\n`);
  return `${header}
/**
 * The API with one key. What its operations take and answer:
 *
${models.map((model) => shapeOf(model, byName)).join("")} */
final class Amana
{
${fields.join("")}
    /**
     * $timeout: of one attempt, in seconds. The API itself takes up to 40, so less gives up on what
     * succeeds. $retries: attempts after the first. $retryPause: before the second, then doubled.
     * $allowHttp: permits an http:// address of another machine, to which the key is sent
     * unencrypted.
     */
    public function __construct(
        string $baseUrl,
        #[\\SensitiveParameter] string $apiKey,
        float $timeout = 45,
        int $retries = 3,
        float $retryPause = 1,
        bool $allowHttp = false,
    ) {
        $transport = new Transport($baseUrl, $apiKey, $timeout, $retries, $retryPause, $allowHttp);
${made.join("")}    }
}
${classes.join("")}`;
}
