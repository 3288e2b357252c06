import { describe } from "vitest";
import { shareSystem } from "../../src/shared-system.ts";

shareSystem("direct");

// This suite runs first, because it expects exact counts in the metrics of all services.
describe("metrics", async () => {
  await import("./metrics.ts");
});
describe("audit trail", async () => {
  await import("./audit.ts");
});
describe("flows", async () => {
  await import("./flows.ts");
});
describe("checkout", async () => {
  await import("./checkout.ts");
});
describe("receipts", async () => {
  await import("./receipts.ts");
});
describe("clients", async () => {
  await import("./clients.ts");
});
describe("documented requests", async () => {
  await import("./documented-requests.ts");
});
describe("samples of the guide", async () => {
  await import("../guide/samples.ts");
});
