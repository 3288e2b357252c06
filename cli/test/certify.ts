import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execAmana } from "@amana/e2e/run-amana";
import { sharedSystem } from "@amana/e2e/shared-system";
import { aBusiness, type TestBusiness, type TestSystem } from "@amana/e2e/test-system";
import { executablePath, isBrowserMissing } from "@amana/testing/browser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const stack = new AsyncDisposableStack();
let running: TestSystem;
let business: TestBusiness;
let dir: string;
beforeAll(async () => {
  running = sharedSystem();
  business = await aBusiness(running.system, "Librairie El Kitab");
  stack.use(business.receiver);
  dir = await mkdtemp(join(tmpdir(), "amana-certify-"));
  stack.defer(() => rm(dir, { recursive: true }));
});
afterAll(() => stack.disposeAsync());

const certify = (folder: string, ...args: string[]) => {
  const settings = { AMANA_URL: running.system.gatewayUrl, AMANA_KEY: business.key, CHROMIUM_PATH: executablePath ?? "" };
  return execAmana(settings, "certify", "--out", join(dir, folder), ...args);
};
const points = ["--only", "checkout,transport,card-valid,card-card-blocked,unknown"];

describe.skipIf(isBrowserMissing("tests of `amana certify`"))("amana certify", () => {
  test("`amana certify` checks certification points in a browser and writes the evidence, and its next run skips the points that passed", async () => {
    const firstRun = await certify("whole", "--language", "ar", ...points);
    expect(firstRun).toMatchObject({ code: 0, err: "" });
    expect(firstRun.out).toContain("4 passed, 0 failed, 1 not applicable, 0 not run.");
    const files = await readdir(join(dir, "whole", "files"));
    expect(files).toContain("checkout-ar-1-1280.png");
    expect(files).toContain("card-valid-ar-3-receipt.pdf");
    const evidence = await readFile(join(dir, "whole", "evidence.json"), "utf8");
    expect(evidence).not.toMatch(/\d{12,}7215/);
    expect(await readFile(join(dir, "whole", "evidence.html"), "utf8")).toContain("Librairie El Kitab");
    expect((await readFile(join(dir, "whole", "evidence.pdf"))).subarray(0, 5).toString()).toBe("%PDF-");

    const secondRun = await certify("whole", "--language", "ar", "--only", "checkout,frame");
    expect(secondRun).toMatchObject({ code: 0, err: "" });
    expect(secondRun.out).toContain("2 points, 1 kept from an earlier run.");
    const { items } = await business.amana.paymentLinks.list({ status: "ACTIVE" }).page();
    expect(items).toEqual([]);
  });

  test("`amana certify` exits with code 1 and prints the failed check, and its next run repeats only the failed certification point", async () => {
    const file = join(dir, "cards.json");
    const blockedCard = { name: "blocked", pan: "6280581110006712", expiry: "01/2027", cvv2: "897", password: "123456" };
    await writeFile(file, JSON.stringify([{ ...blockedCard, accepted: true }]));
    const result = await certify("wrong", "--cards", file, "--only", "card-blocked,frame");
    expect(result.code).toBe(1);
    expect(result.out).toContain("The payment with 628058**6712 is PAID. Found: REFUSED");
    expect(result.out).toContain("1 passed, 1 failed");
    await writeFile(file, JSON.stringify([{ ...blockedCard, accepted: false }]));
    const corrected = await certify("wrong", "--cards", file, "--only", "card-blocked,frame");
    expect(corrected).toMatchObject({ code: 0 });
    expect(corrected.out).toContain("2 points, 1 kept from an earlier run.");
  });
});

test("`amana certify` prints the next step for an unknown certification point, a browser that does not start, and another deployment's evidence", async () => {
  expect(await certify("x", "--only", "nothing")).toMatchObject({
    code: 2,
    err: expect.stringContaining("The points are: checkout, "),
  });
  const broken = await certify("x", "--chromium", "/nonexistent", "--only", "frame");
  expect(broken).toMatchObject({ code: 1, err: expect.stringContaining("pass another with --chromium") });
  await writeFile(
    join(dir, "x", "evidence.json"),
    JSON.stringify({ deployment: "https://a.example", business: "A", results: {} }),
  );
  expect(await certify("x")).toMatchObject({ code: 2, err: expect.stringContaining("Use another folder with --out") });
});
