import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anApplication, faultAt, onLink, theWebhook } from "../../src/kyc-harness.ts";
import {
  aBusiness,
  anOrder,
  aPaidPayment,
  sandbox,
  startTestSystem,
  type TestBusiness,
  type TestSystem,
} from "../../src/test-system.ts";
import { blocksOf, guidePages, rowsBelow } from "./guide-page.ts";
import { runPage } from "./run-page.ts";

const canRunShell = ["bash", "curl"].every((program) => {
  try {
    return execFileSync(program, ["--version"], { stdio: "ignore" }) === null;
  } catch {
    return false;
  }
});
if (!canRunShell) process.stderr.write("\nLEFT OUT: the shell samples of the guide. bash or curl is not installed.\n\n");

let running: TestSystem;
let business: TestBusiness;
beforeAll(async () => {
  running = await startTestSystem("direct");
  business = await aBusiness(running.system, "Librairie");
});
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
  await running?.[Symbol.asyncDispose]();
});

describe.skipIf(!canRunShell)("the shell samples of the guide", () => {
  const pages = guidePages.filter((page) => blocksOf(page).some(({ language }) => language === "sh"));

  test.each(pages)("of %s have the documented responses, in order", async (page) => {
    const { system } = running;
    const operator = apiCaller(system.gatewayUrl, system.adminKey);
    const { body } = await operator("POST", "/api/v1/businesses", { name: page });
    expect(await runPage(page, { ...system, key: String(body["api_key"]) })).toEqual([]);
  });

  test("are more than 40, and a wrong response is reported", async () => {
    expect(pages.flatMap(blocksOf).filter(({ language }) => language === "sh").length).toBeGreaterThan(40);
    // With an invalid key, all responses differ from the page.
    expect(await runPage("idempotency", { ...running.system, key: "sk_test_none" })).not.toEqual([]);
  });
});

describe("the tables in the sandbox page of the guide", () => {
  const [, ...cards] = rowsBelow("sandbox", "Test cards");

  test("test cards: each card has the documented status and codes", async () => {
    expect(cards.length).toBe(16);
    const seen = cards.map(async ([pan, expiry, cvv2, what]) => {
      const { body } = await business.call("POST", "/api/v1/payments", anOrder);
      await sandbox(running.system, "POST", `/sandbox/payments/${body["processor_order_id"]}/pay`, {
        pan,
        expiry,
        cvv2,
        password: "123456",
      });
      return await eventually(async () => {
        const { body: paid } = await business.call("GET", `/api/v1/payments/${body["id"]}`);
        expect(paid["status"]).not.toBe("PENDING");
        return [pan, expiry, cvv2, what, paid["status"], paid["action_code"], paid["resp_code"] ?? ""];
      });
    });
    expect(await Promise.all(seen)).toEqual(cards);
  });

  test("verdicts: each submission has the documented result and webhook", async () => {
    const verdicts = rowsBelow("sandbox", "Verdicts").filter(([body]) => body?.startsWith("{"));
    expect(verdicts.length).toBe(6);
    const seen = verdicts.map(async ([submission = "", , , kind = ""]) => {
      const { id, link } = await anApplication(business);
      await onLink(running.system, link, "submit", JSON.parse(submission) as object);
      const { event, body } = await theWebhook(business, kind, id);
      return [submission, body["status"], body["verdict"] ?? "", event];
    });
    expect(await Promise.all(seen)).toEqual(verdicts);
  });

  test("faults to try before going live: each fault has the documented responses and outcomes", async () => {
    const { system } = running;
    const [, ...rows] = rowsBelow("sandbox", "What to try before going live");
    const [atCreation = [], atRefund = [], refused = [], kyc = [], ...others] = rows;
    expect([kyc.length, others]).toEqual([2, []]);
    const plant = async ([, planted = ""]: string[]) => {
      const faults = planted.matchAll(/(register|status|refund|kyc_create) ([a-z]\w+(?::\d+)?)(?: with times (\d+))?/g);
      for (const [, operation = "", mode = "", times = "1"] of faults) await faultAt(system, operation, mode, Number(times));
    };
    const noFaultsAt = (...operations: string[]) =>
      Promise.all(operations.map((operation) => sandbox(system, "DELETE", `/sandbox/faults?operation=${operation}`)));
    /**
     * Sends two requests with one key and returns the first response and the final status of the
     * second.
     */
    const twice = async (path: string, body: object | undefined, before: () => Promise<unknown> = async () => undefined) => {
      const key = { "idempotency-key": randomUUID() };
      const first = await business.call("POST", path, body, key);
      await before();
      const again = await eventually(async () => {
        const response = await business.call("POST", path, body, key);
        expect(response.status).toBeLessThan(300);
        return response;
      });
      return [first.status, first.body["code"], again.status];
    };
    const [late, lost] = [await aPaidPayment(system, business), await aPaidPayment(system, business)];
    for (const row of [atCreation, kyc, atRefund]) await plant(row);
    const seen = await Promise.all([
      twice("/api/v1/payments", anOrder, () => noFaultsAt("register", "status")),
      twice("/api/v1/kyc/applications", {}, () => noFaultsAt("kyc_create")),
      twice(`/api/v1/payments/${late.id}/refund`, undefined),
    ]);
    expect(seen).toEqual([
      [504, "processor_outcome_unknown", 201],
      [503, "kyc_provider_unavailable", 201],
      [504, "refund_outcome_unknown", 200],
    ]);
    expect([atCreation[0], kyc[0], atRefund[0]]).toEqual([
      expect.stringMatching(/^504 .* 201 /),
      expect.stringMatching(/^503 kyc_provider_unavailable, and 201 /),
      expect.stringMatching(/^504 at a refund/),
    ]);
    await plant(refused);
    const refusal = await business.call("POST", `/api/v1/payments/${lost.id}/refund`);
    expect(`${refusal.status} ${refusal.body["code"]}`).toBe(refused[0]);
  });

  test("faults: the table contains exactly the modes of the sandbox", async () => {
    const operations = ["register", "confirm", "status", "refund", "kyc_create", "kyc_get", "kyc_cancel", "kyc_callback"];
    const modes = operations.map(async (operation) => {
      const plant = sandbox(running.system, "PUT", "/sandbox/faults", { operation, mode: "none" });
      const refusal = await plant.then(String, (error: Error) => error.message);
      return /mode must be one of (.*?)\. /.exec(refusal)?.[1]?.split(", ") ?? [];
    });
    const [, ...rows] = rowsBelow("sandbox", "Faults");
    expect(new Set(rows.flatMap(([modes]) => modes?.split(", ")))).toEqual(new Set((await Promise.all(modes)).flat()));
  });
});
