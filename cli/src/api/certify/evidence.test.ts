import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCards, testCards } from "./cards.ts";
import { type Evidence, openEvidence, type PointResult, saveEvidence } from "./evidence.ts";
import { statusOf } from "./point-run.ts";
import { renderReport } from "./report.ts";
import { createPoints } from "./result-points.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "amana-evidence-"));
});
afterEach(() => rm(folder, { recursive: true }));

const deployment = "https://pay.example";
const hostile = '<script>alert("1")</script>';
const aResult: PointResult = {
  point: "checkout",
  language: "fr",
  title: "Amount",
  requirement: "The page shows the amount.",
  status: "failed",
  at: "2026-11-27T00:00:00.000Z",
  checks: [{ text: "Check", holds: false, found: hostile }],
  files: [{ name: "checkout-fr-1-390.png", caption: "page" }],
};
const evidenceOf = (business: string): Evidence => ({ deployment, business, results: { "checkout-fr": aResult } });

describe("openEvidence", () => {
  test("openEvidence creates a missing evidence folder, and returns the results that an earlier run stored in an existing folder", async () => {
    const path = join(folder, "new");
    expect(await openEvidence(path, deployment, "Shop")).toEqual({ deployment, business: "Shop", results: {} });
    await saveEvidence(path, evidenceOf("Shop"));
    expect(await openEvidence(path, deployment, "Shop")).toEqual(evidenceOf("Shop"));
  });

  test.each([
    ["https://other.example", "Shop"],
    [deployment, "Other shop"],
  ])(
    "openEvidence rejects a folder that contains evidence of another deployment or business: %s, %s",
    async (otherDeployment, business) => {
      await saveEvidence(folder, evidenceOf("Shop"));
      await expect(openEvidence(folder, otherDeployment, business)).rejects.toThrow(/Use another folder with --out/);
    },
  );

  test.each(["", "{", "null", "[]", '{"deployment":1}'])(
    "openEvidence rejects an evidence file with the invalid content %j",
    async (content) => {
      await writeFile(join(folder, "evidence.json"), content);
      await expect(openEvidence(folder, deployment, "Shop")).rejects.toThrow(/is not an evidence file/);
      expect(await readFile(join(folder, "evidence.json"), "utf8")).toBe(content);
    },
  );
});

test("renderReport returns a page with the screenshots and with escaped business names and check results", () => {
  const report = renderReport(evidenceOf(hostile));
  expect(report).not.toContain("<script>");
  expect(report).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;");
  expect(report).toContain("0 passed, 1 failed, 0 not applicable");
  expect(report).toContain('<img src="files/checkout-fr-1-390.png" alt="page">');
});

test("statusOf returns `failed` for a certification point that has a failed check or no checks", () => {
  expect(statusOf([{ text: "a", holds: true }])).toBe("passed");
  expect(
    statusOf([
      { text: "a", holds: true },
      { text: "b", holds: false },
    ]),
  ).toBe("failed");
  expect(statusOf([])).toBe("failed");
});

test("createPoints returns a certification point with a unique id for each published test card", () => {
  const ids = createPoints(testCards, undefined).map(({ id }) => id);
  expect(ids.filter((id) => id.startsWith("card-"))).toHaveLength(15);
  expect(new Set(ids).size).toBe(ids.length);
});

describe("readCards", () => {
  const card = { name: "valid", pan: "6280581110007215", expiry: "01/2027", cvv2: "373", password: "123456", accepted: true };
  const read = async (content: string) => {
    const file = join(folder, "cards.json");
    await writeFile(file, content);
    return await readCards(file);
  };

  test("readCards returns the cards of a valid JSON file", async () => {
    expect(await read(JSON.stringify([card]))).toEqual([{ ...card, accepted: undefined, isAccepted: true }]);
  });

  test.each([
    ["{", "is not JSON"],
    ["[]", "has no cards"],
    ["{}", "has no cards"],
    ["[null]", '"name" of card 1 is missing or invalid'],
    [JSON.stringify([{ ...card, pan: "62805811" }]), '"pan" of card 1 is missing or invalid'],
    [JSON.stringify([card, { ...card, name: "b", expiry: "2027-01" }]), '"expiry" of card 2 is missing or invalid'],
    [JSON.stringify([{ ...card, accepted: "yes" }]), '"accepted" of card 1 is missing or invalid'],
    [JSON.stringify([card, card]), "two cards have the same name"],
  ])("readCards rejects the file content %j with an error that contains no card number", async (content, problem) => {
    const error = await read(content).then(
      () => new Error("the file was accepted"),
      (reason: Error) => reason,
    );
    expect(error.message).toContain(problem);
    expect(error.message).not.toMatch(/\d{8}/);
  });

  test("readCards throws an error that names the file if the file does not exist", async () => {
    await expect(readCards(join(folder, "none.json"))).rejects.toThrow(/none\.json: the file cannot be read/);
  });
});
