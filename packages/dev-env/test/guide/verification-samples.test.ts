import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blockIn, blocksOf, guideText } from "./guide-page.ts";

/** How a sample is run: the program, what is put behind it, and as which files. */
interface Language {
  readonly name: string;
  readonly program: string;
  readonly isThere: readonly string[];
  readonly files: (sample: string) => Record<string, string>;
  readonly args: readonly string[];
}

const languages: readonly Language[] = [
  {
    name: "ts",
    program: process.execPath,
    isThere: ["--version"],
    files: (sample) => ({
      "sample.ts": sample,
      "main.ts": `import { readFileSync } from "node:fs";
import { isGenuine } from "./sample.ts";
for (const { body, headers, secrets, now } of JSON.parse(readFileSync(0, "utf8")))
  console.log(isGenuine(Buffer.from(body), (name) => headers[name], secrets, now));`,
    }),
    args: ["main.ts"],
  },
  {
    name: "python",
    program: "python3",
    isThere: ["--version"],
    files: (sample) => ({
      "main.py": `${sample}
import json, sys
for case in json.load(sys.stdin):
    print(str(is_genuine(case["body"].encode(), case["headers"].get, case["secrets"], case["now"])).lower())`,
    }),
    args: ["main.py"],
  },
  {
    name: "php",
    program: "php",
    isThere: ["--version"],
    files: (sample) => ({
      "main.php": `${sample}
foreach (json_decode(stream_get_contents(STDIN), true) as $case) {
    $header = fn($name) => $case['headers'][$name] ?? null;
    echo json_encode(is_genuine($case['body'], $header, $case['secrets'], $case['now'])), "\\n";
}`,
    }),
    args: ["main.php"],
  },
  {
    name: "go",
    program: "go",
    isThere: ["version"],
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

const isInstalled = ({ program, isThere }: Language): boolean => {
  try {
    execFileSync(program, [...isThere], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const missing = languages.filter((language) => !isInstalled(language));
for (const { name, program } of missing) {
  process.stderr.write(`\nLEFT OUT: the guide's way to verify a webhook in ${name}. There is no ${program} on this machine.\n\n`);
}

/** The delivery that the page shows, and its secret. */
function readVector() {
  const [head = "", body = ""] = blockIn("webhooks", "http").trimEnd().split("\n\n");
  const headers = Object.fromEntries(
    head
      .split("\n")
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
  );
  const [secret = ""] = /whsec_[\w+/]{43}=/.exec(guideText("webhooks")) ?? [];
  return { body, headers: headers as Record<string, string>, secrets: [secret], now: Number(headers["webhook-timestamp"]) };
}

const vector = readVector();
const other = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
const signature = vector.headers["webhook-signature"] as string;
const withHeader = (name: string, value: string | undefined) => {
  const { [name]: _, ...rest } = vector.headers;
  return { ...vector, headers: value === undefined ? rest : { ...rest, [name]: value } };
};

const cases: readonly (readonly [what: string, isGenuine: boolean, given: typeof vector])[] = [
  ["the vector", true, vector],
  ["five minutes early", true, { ...vector, now: vector.now - 300 }],
  ["five minutes late", true, { ...vector, now: vector.now + 300 }],
  ["a second earlier than that", false, { ...vector, now: vector.now - 301 }],
  ["a second later than that", false, { ...vector, now: vector.now + 301 }],
  ["the second of two secrets", true, { ...vector, secrets: [other, ...vector.secrets] }],
  ["another secret", false, { ...vector, secrets: [other] }],
  ["no secret", false, { ...vector, secrets: [] }],
  ["one byte of the body changed", false, { ...vector, body: vector.body.replace("10.50", "10.51") }],
  ["the body parsed and written anew", false, { ...vector, body: JSON.stringify(JSON.parse(vector.body)) }],
  ["a line break behind the body", false, { ...vector, body: `${vector.body}\n` }],
  ["the good one behind another signature", true, withHeader("webhook-signature", `v1,${"A".repeat(43)}= ${signature}`)],
  ["the good one before another scheme", true, withHeader("webhook-signature", `${signature} v1a,abc`)],
  ["a signature cut short", false, withHeader("webhook-signature", signature.slice(0, -1))],
  ["a signature without its version", false, withHeader("webhook-signature", signature.slice(3))],
  ["a signature of other characters", false, withHeader("webhook-signature", `v1,${"é".repeat(22)}`)],
  ["another id", false, withHeader("webhook-id", "01980000-0000-7000-8000-000000000009")],
  ["another time", false, withHeader("webhook-timestamp", "1795170001")],
  ["a time that is no number", false, withHeader("webhook-timestamp", "soon")],
  ...["webhook-id", "webhook-timestamp", "webhook-signature"].map(
    (name) => [`no ${name}`, false, withHeader(name, undefined)] as const,
  ),
];

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "amana-guide-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test.each(languages.filter((language) => !missing.includes(language)))(
  "the sample in $name believes what is genuine and nothing else",
  async ({ name, program, args, files }) => {
    for (const [file, text] of Object.entries(files(blockIn("webhooks", name)))) await writeFile(join(dir, file), text);
    const output = await new Promise<string>((resolve, reject) => {
      const env = { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "" };
      const child = execFile(program, [...args], { cwd: dir, env, timeout: 100_000 }, (error, stdout, stderr) =>
        error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout),
      );
      child.stdin?.end(JSON.stringify(cases.map(([, , given]) => given)));
    });
    const told = output.trim().split("\n");
    expect(cases.map(([what], i) => `${what}: ${told[i]}`)).toEqual(cases.map(([what, isGenuine]) => `${what}: ${isGenuine}`));
  },
);

test("the page has one sample in each language, and no code in a language that nobody runs", () => {
  const shown = blocksOf("webhooks").map(({ language }) => language);
  expect(new Set(shown)).toEqual(new Set(["sh", "json", "http", ...languages.map(({ name }) => name)]));
});
