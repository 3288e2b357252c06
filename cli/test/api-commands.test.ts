import { shareSystem } from "@amana/e2e/shared-system";
import { describe } from "vitest";

shareSystem("direct");

describe("API commands", async () => {
  await import("./amana-api.ts");
});
describe("certification", async () => {
  await import("./certify.ts");
});
