import { join } from "node:path";
import { createConfig, lint } from "@redocly/openapi-core";
import { expect, test } from "vitest";

const path = join(import.meta.dirname, "..", "..", "..", "docs", "api", "openapi.json");
const rules = {
  // A return from the card form is answered with a redirect alone.
  "operation-2xx-response": "off",
  // No id is the word "return".
  "no-ambiguous-paths": "off",
  // The API is not for others to copy.
  "info-license": "off",
  "operation-4xx-response": "error",
  "operation-operationId-unique": "error",
  "no-invalid-schema-examples": "error",
  "no-invalid-media-type-examples": "error",
  "no-required-schema-properties-undefined": "error",
  "operation-parameters-unique": "error",
  "tag-description": "off",
} as const;

test("the document passes a linter of OpenAPI", async () => {
  const config = await createConfig({ extends: ["recommended"], rules });
  const problems = await lint({ ref: path, config });
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
}, 60_000);
