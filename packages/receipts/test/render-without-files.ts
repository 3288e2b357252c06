import { closeSync, openSync } from "node:fs";
import { createPdfRenderer } from "../src/pdf-renderer.ts";
import { aReceipt } from "./a-receipt.ts";

// Run this program with a low limit of open files.

/** Opens files up to the limit of this process. */
function openAllFiles(): number[] {
  const files: number[] = [];
  try {
    for (;;) files.push(openSync("/dev/null", "r"));
  } catch {
    return files;
  }
}

await using renderer = createPdfRenderer();
const files = openAllFiles();
const results = await Promise.allSettled([renderer.render(aReceipt, "fr"), renderer.render(aReceipt, "ar")]);
for (const file of files) closeSync(file);
const pdf = await renderer.render(aReceipt, "fr");
const errors = results.map((result) => (result.status === "rejected" ? result.reason.name : "none"));
console.log(JSON.stringify({ errors, start: Buffer.from(pdf.subarray(0, 5)).toString() }));
