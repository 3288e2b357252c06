import { type Api, capitalised, type Method, type Type } from "./document.ts";

const header = "# Made by sdks/src/generate.ts of docs/api/openapi.json. Not to be changed by hand.\n";
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function textOf(type: Type, prefix = ""): string {
  if (type.kind === "enum") return `Literal[${type.values.map((value) => JSON.stringify(value)).join(", ")}]`;
  if (type.kind === "array") return `${prefix && "builtins."}list[${textOf(type.of, prefix)}]`;
  if (type.kind === "model") return prefix + type.name;
  const others = { string: "str", integer: "int", number: "float", boolean: "bool", json: "Any", map: "dict[str, Any]" } as const;
  return others[type.kind];
}

/** Dictionaries with known members. */
export function pythonModels({ models }: Api): string {
  const classes = models.map(({ name, fields }) => {
    // What is a word of the language cannot be written as a member of a class.
    if (fields.some((field) => field.name === "from")) {
      const members = fields.map((field) => `    ${JSON.stringify(field.name)}: ${JSON.stringify(textOf(field.type))},\n`);
      return `\n\n${name} = TypedDict(\n    "${name}",\n    {\n${members.map((line) => `    ${line}`).join("")}    },\n    total=False,\n)\n`;
    }
    const lines = fields.map(({ name, type, required, nullable, description }) => {
      const whole = `${textOf(type)}${nullable ? " | None" : ""}`;
      const doc = description ? `    # ${description}\n` : "";
      return `${doc}    ${name}: ${required ? whole : `NotRequired[${whole}]`}\n`;
    });
    return `\n\nclass ${name}(TypedDict):\n${lines.join("")}`;
  });
  return `${header}from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired
${classes.join("")}`;
}

function methodOf({ name, verb, path, summary, pathParameters, input, kind, result }: Method): string {
  const inputName = kind === "list" ? "query" : "body";
  const type = input && `models.${input.model}`;
  const parameters = [
    "self",
    ...pathParameters.map((parameter) => `${parameter}: str`),
    ...(type ? [`${inputName}: ${type}${input.required ? "" : " | None = None"}`] : []),
    ...(verb === "POST" && kind === "call" ? ["*", "idempotency_key: str | None = None"] : []),
  ].join(", ");
  const filled = path.replaceAll(/\{(\w+)\}/g, "{segment($1)}");
  const quoted = filled === path ? JSON.stringify(path) : `f"${filled}"`;
  const answer = result ? textOf(result, "models.") : "None";
  const [returned, call] = {
    list: [`List[${answer}]`, `self._pages(${[quoted, ...(input ? ["query"] : [])].join(", ")})`],
    redirect: ["dict[str, str]", `self._redirect("${verb}", ${quoted})`],
    call: [
      answer,
      `self._call(${[`"${verb}"`, quoted, ...(input ? ["body"] : []), ...(verb === "POST" ? ["idempotency_key=idempotency_key"] : [])].join(", ")})`,
    ],
  }[kind];
  const doc = summary.endsWith('"') ? `${summary} ` : summary;
  return `    def ${snake(name)}(${parameters}) -> ${returned}:\n        """${doc}."""\n        return ${call}\n`;
}

export function pythonResources({ resources }: Api): string {
  const classes = resources.map(
    ({ name, methods }) => `\n\nclass ${capitalised(name)}(Resource):\n${methods.map(methodOf).join("\n")}`,
  );
  const made = resources.map(({ name }) => `        self.${snake(name)} = ${capitalised(name)}(transport)\n`);
  return `${header}from __future__ import annotations

import builtins

from . import models
from .transport import List, Resource, Transport, segment
${classes.join("")}

class Amana:
    """The API with one key.

    timeout: of one attempt, in seconds. The API itself takes up to 40, so less gives up on what
    succeeds. retries: attempts after the first one. retry_pause: before the second, then doubled.
    allow_http: permits an http:// address of another machine, to which the key is sent unencrypted.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = 45,
        retries: int = 3,
        retry_pause: float = 1,
        allow_http: bool = False,
    ) -> None:
        transport = Transport(base_url, api_key, timeout, retries, retry_pause, allow_http)
${made.join("")}`;
}
