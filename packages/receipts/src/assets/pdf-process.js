import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { NodeCompiler } from "@myriaddreamin/typst-ts-node-compiler";

// This file is JavaScript in the assets folder, because the container images include it unbundled.

const { resolve } = createRequire(import.meta.url);
const font = (path) => readFileSync(resolve(`@expo-google-fonts/${path}`));
const template = readFileSync(new URL("./receipt.typ", import.meta.url), "utf8");
/** Number of receipts after which the compiler drops a cached result that it no longer uses. */
const cacheRounds = 5;

const compiler = NodeCompiler.create({
  // The template reads no files. The folder only has to exist.
  workspace: import.meta.dirname,
  fontArgs: [
    {
      fontBlobs: [
        font("noto-sans/400Regular/NotoSans_400Regular.ttf"),
        font("noto-sans/700Bold/NotoSans_700Bold.ttf"),
        font("ibm-plex-sans-arabic/400Regular/IBMPlexSansArabic_400Regular.ttf"),
        font("ibm-plex-sans-arabic/700Bold/IBMPlexSansArabic_700Bold.ttf"),
      ],
    },
  ],
});

process.on("message", (receipt) => {
  try {
    const pdf = compiler.pdf({ mainFileContent: template, inputs: { receipt } });
    compiler.evictCache(cacheRounds);
    process.send({ pdf });
  } catch {
    // The message of the error can contain texts of customers, and the caller logs this text.
    process.send({ error: "typst reported an error" });
  }
});
