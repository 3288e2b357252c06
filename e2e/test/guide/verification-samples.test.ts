import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Case, cases } from "@amana/client/webhook-cases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readBlock, readBlocks, readGuidePage } from "./guide-page.ts";

/** A language of the webhook sample, and the program that runs the sample. */
interface Language {
  readonly name: string;
  readonly program: string;
  readonly versionArgs: readonly string[];
  readonly files: (sample: string) => Record<string, string>;
  readonly args: readonly string[];
}

const languages: readonly Language[] = [
  {
    name: "ts",
    program: process.execPath,
    versionArgs: ["--version"],
    files: (sample) => ({
      "sample.ts": sample,
      "main.ts": `import { readFileSync } from "node:fs";
import { isGenuine } from "./sample.ts";
for (const { body, headers, secrets, now } of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    console.log(isGenuine(Buffer.from(body), (name) => headers[name], secrets, now));
  } catch (error) {
    console.log("threw " + error.message);
  }
}`,
    }),
    args: ["main.ts"],
  },
  {
    name: "python",
    program: "python3",
    versionArgs: ["--version"],
    files: (sample) => ({
      "main.py": `${sample}
import json, sys
# Servers decode header bytes as Latin-1 (wsgiref) or as UTF-8 with surrogates (aiohttp).
decodings = [lambda text: text.encode().decode("latin-1"), lambda text: text.encode().decode("ascii", "surrogateescape")]
for case in json.load(sys.stdin):
    results = []
    for decode in decodings:
        headers = {name: decode(value) for name, value in case["headers"].items()}
        try:
            # time.time() also returns a float.
            results.append(str(is_genuine(case["body"].encode(), headers.get, case["secrets"], float(case["now"]))).lower())
        except Exception as error:
            results.append(f"threw {error}")
    print(" ".join(sorted(set(results))))`,
    }),
    args: ["main.py"],
  },
  {
    name: "php",
    program: "php",
    versionArgs: ["--version"],
    files: (sample) => ({
      "main.php": `${sample}
foreach (json_decode(stream_get_contents(STDIN), true) as $case) {
    $header = fn($name) => $case['headers'][$name] ?? null;
    try {
        echo json_encode(is_genuine($case['body'], $header, $case['secrets'], $case['now'])), "\\n";
    } catch (Throwable $error) {
        echo 'threw ', $error->getMessage(), "\\n";
    }
}`,
    }),
    args: ["main.php"],
  },
  {
    name: "go",
    program: "go",
    versionArgs: ["version"],
    files: (sample) => ({
      "sample.go": sample,
      "main.go": `package main
import ("encoding/json"; "fmt"; "os"; "time")
func main() {
	var cases []struct { Body string; Headers map[string]string; Secrets []string; Now int64 }
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil { panic(err) }
	for _, c := range cases {
		fmt.Println(isGenuine([]byte(c.Body), func(name string) string { return c.Headers[name] }, c.Secrets, time.Unix(c.Now, 0)))
	}
}`,
    }),
    args: ["run", "sample.go", "main.go"],
  },
];

const isInstalled = ({ program, versionArgs }: Language): boolean => {
  try {
    execFileSync(program, [...versionArgs], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const missing = languages.filter((language) => !isInstalled(language));
for (const { name, program } of missing) {
  process.stderr.write(`\nSKIPPED the webhook sample in ${name}, because ${program} is not installed.\n\n`);
}

/** Returns the example delivery of the guide and the secret with which it is signed. */
function readVector(): Case {
  const [head = "", body = ""] = readBlock("webhooks", "http").trimEnd().split("\n\n");
  const headers: Record<string, string> = Object.fromEntries(
    head
      .split("\n")
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  );
  const [secret = ""] = /whsec_[\w+/]{43}=/.exec(readGuidePage("webhooks")) ?? [];
  const now = Number(headers["webhook-timestamp"]);
  return { name: "the page's test vector", expected: "genuine", body, headers, secrets: [secret], now };
}

const deliveries = [readVector(), ...cases];

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "amana-guide-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test.each(languages.filter((language) => !missing.includes(language)))(
  "the guide's webhook sample in $name accepts genuine deliveries, and rejects forged deliveries without an exception",
  async ({ name, program, args, files }) => {
    for (const [file, text] of Object.entries(files(readBlock("webhooks", name)))) await writeFile(join(dir, file), text);
    const output = await new Promise<string>((resolve, reject) => {
      const env = { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "" };
      const child = execFile(program, [...args], { cwd: dir, env, timeout: 100_000 }, (error, stdout, stderr) =>
        error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout),
      );
      child.stdin?.end(JSON.stringify(deliveries));
    });
    const results = output.trim().split("\n");
    expect(deliveries.map((webhook, i) => `${webhook.name}: ${results[i]}`)).toEqual(
      deliveries.map((webhook) => `${webhook.name}: ${webhook.expected === "genuine"}`),
    );
  },
);

test("the tests run the samples of every programming language on the guide's webhooks page", () => {
  const languagesOfPage = readBlocks("webhooks").map(({ language }) => language);
  expect(new Set(languagesOfPage)).toEqual(new Set(["sh", "json", "http", ...languages.map(({ name }) => name)]));
});
