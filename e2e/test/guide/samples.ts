import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { apiCaller } from "@amana/dev-env/demo/api";
import { eventually } from "@amana/dev-env/eventually";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { actOnLink, anApplication, clearFaults, setFault, waitForWebhook } from "../../src/kyc-harness.ts";
import { sharedSystem } from "../../src/shared-system.ts";
import { aBusiness, anOrder, aPaidPayment, callSandbox, type TestBusiness, type TestSystem } from "../../src/test-system.ts";
import { guidePages, readBlocks, readRows } from "./guide-page.ts";
import { runPage } from "./run-page.ts";

const canRunShell = ["bash", "curl"].every((program) => {
  try {
    return execFileSync(program, ["--version"], { stdio: "ignore" }) === null;
  } catch {
    return false;
  }
});
if (!canRunShell) process.stderr.write("\nSKIPPED the shell samples of the guide, because bash or curl is not installed.\n\n");

let testSystem: TestSystem;
let business: TestBusiness;
beforeAll(async () => {
  testSystem = sharedSystem();
  business = await aBusiness(testSystem.system, "Librairie");
});
afterEach(() => clearFaults(testSystem.system));
afterAll(async () => {
  await business?.receiver[Symbol.asyncDispose]();
});

describe.skipIf(!canRunShell)("the shell samples of the guide", () => {
  const pages = guidePages.filter((page) => readBlocks(page).some(({ language }) => language === "sh"));

  test.each(pages)("the shell samples of the guide page %s get the documented responses", async (page) => {
    const { system } = testSystem;
    const operator = apiCaller(system.gatewayUrl, system.adminKey);
    const { body } = await operator("POST", "/api/v1/businesses", { name: page });
    expect(await runPage(page, { ...system, key: String(body["api_key"]) })).toEqual([]);
  });

  test("the guide has more than 40 shell samples, and runPage reports responses that differ from the page", async () => {
    expect(pages.flatMap(readBlocks).filter(({ language }) => language === "sh").length).toBeGreaterThan(40);
    // With an invalid key, all responses differ from the page.
    expect(await runPage("idempotency", { ...testSystem.system, key: "sk_test_none" })).not.toEqual([]);
  });
});

describe("the tables in the sandbox page of the guide", () => {
  const [, ...cards] = readRows("sandbox", "Test cards");

  test("a payment with each test card in the guide ends with the documented status and codes", async () => {
    expect(cards.length).toBe(16);
    const results = cards.map(async ([pan, expiry, cvv2, description]) => {
      const { body } = await business.call("POST", "/api/v1/payments", anOrder);
      await callSandbox(testSystem.system, "POST", `/sandbox/payments/${body["processor_order_id"]}/pay`, {
        pan,
        expiry,
        cvv2,
        password: "123456",
      });
      return await eventually(async () => {
        const { body: paid } = await business.call("GET", `/api/v1/payments/${body["id"]}`);
        expect(paid["status"]).not.toBe("PENDING");
        return [pan, expiry, cvv2, description, paid["status"], paid["action_code"], paid["resp_code"] ?? ""];
      });
    });
    expect(await Promise.all(results)).toEqual(cards);
  });

  test("a submission from the guide's table of KYC verdicts leads to the documented status, verdict and webhook", async () => {
    const verdicts = readRows("sandbox", "Verdicts").filter(([body]) => body?.startsWith("{"));
    expect(verdicts.length).toBe(6);
    const results = verdicts.map(async ([submission = "", , , kind = ""]) => {
      const { id, link } = await anApplication(business);
      await actOnLink(testSystem.system, link, "submit", JSON.parse(submission) as object);
      const { event, body } = await waitForWebhook(business, kind, id);
      return [submission, body["status"], body["verdict"] ?? "", event];
    });
    expect(await Promise.all(results)).toEqual(verdicts);
  });

  test("the API returns the documented responses for the sandbox faults in the guide's table 'What to try before going live'", async () => {
    const { system } = testSystem;
    const [, ...rows] = readRows("sandbox", "What to try before going live");
    const [creation = [], refund = [], rejection = [], verification = [], ...others] = rows;
    expect([verification.length, others]).toEqual([2, []]);
    const setFaultsOf = async ([, description = ""]: string[]) => {
      const faults = description.matchAll(/(register|status|refund|kyc_create) ([a-z]\w+(?::\d+)?)(?: with times (\d+))?/g);
      for (const [, operation = "", mode = "", times = "1"] of faults) await setFault(system, operation, mode, Number(times));
    };
    const removeFaults = (...operations: string[]) =>
      Promise.all(operations.map((operation) => callSandbox(system, "DELETE", `/sandbox/faults?operation=${operation}`)));
    /**
     * Sends a request and repeats it with the same Idempotency-Key until the response is a success.
     * Returns the status and code of the first response, and the status of the last response.
     */
    const sendTwice = async (
      path: string,
      body: object | undefined,
      betweenRequests: () => Promise<unknown> = async () => undefined,
    ) => {
      const key = { "idempotency-key": randomUUID() };
      const first = await business.call("POST", path, body, key);
      await betweenRequests();
      const second = await eventually(async () => {
        const response = await business.call("POST", path, body, key);
        expect(response.status).toBeLessThan(300);
        return response;
      });
      return [first.status, first.body["code"], second.status];
    };
    const [unknownRefund, rejectedRefund] = [await aPaidPayment(system, business), await aPaidPayment(system, business)];
    for (const row of [creation, verification, refund]) await setFaultsOf(row);
    const results = await Promise.all([
      sendTwice("/api/v1/payments", anOrder, () => removeFaults("register", "status")),
      sendTwice("/api/v1/kyc/applications", {}, () => removeFaults("kyc_create")),
      sendTwice(`/api/v1/payments/${unknownRefund.id}/refund`, undefined),
    ]);
    expect(results).toEqual([
      [504, "processor_outcome_unknown", 201],
      [503, "kyc_provider_unavailable", 201],
      [504, "refund_outcome_unknown", 200],
    ]);
    expect([creation[0], verification[0], refund[0]]).toEqual([
      expect.stringMatching(/^504 .* 201 /),
      expect.stringMatching(/^503 kyc_provider_unavailable, and 201 /),
      expect.stringMatching(/^504 at a refund/),
    ]);
    await setFaultsOf(rejection);
    const rejected = await business.call("POST", `/api/v1/payments/${rejectedRefund.id}/refund`);
    expect(`${rejected.status} ${rejected.body["code"]}`).toBe(rejection[0]);
  });

  test("the guide's table of faults lists exactly the fault modes that the sandbox accepts", async () => {
    const operations = ["register", "confirm", "status", "refund", "kyc_create", "kyc_get", "kyc_cancel", "kyc_callback"];
    const modes = operations.map(async (operation) => {
      const rejection = callSandbox(testSystem.system, "PUT", "/sandbox/faults", { operation, mode: "none" });
      const message = await rejection.then(String, (error: Error) => error.message);
      return /mode must be one of (.*?)\. /.exec(message)?.[1]?.split(", ") ?? [];
    });
    const [, ...rows] = readRows("sandbox", "Faults");
    expect(new Set(rows.flatMap(([modes]) => modes?.split(", ")))).toEqual(new Set((await Promise.all(modes)).flat()));
  });
});
