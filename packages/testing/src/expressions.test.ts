import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findSuperLinearity } from "./check-expression.ts";
import { findExpressions, type RegularExpression } from "./find-expressions.ts";

const root = join(import.meta.dirname, "..", "..", "..");

/** Paths of tests, of development tools and of a generated script. They get no external input. */
const withoutExternalInput =
  /\.test\.ts$|(^|\/)(test|scripts)\/|^(bench|chaos|deploy|e2e|packages\/(dev-env|testing)|sdks\/src)\/|^services\/gateway\/src\/(guide\.ts|pages\/assets\/guide\/search\.js)$/;

/** Calls whose expression the source computes, each with the expressions to check instead. */
const computed: Readonly<Record<string, string[]>> = {
  "packages/api-keys/src/key-text.ts: new RegExp(`^(sk_live_|sk_test_|ak_|inv_)[0-9A-Za-z]{${randomLength + checksumLength}}$`)":
    ["^(sk_live_|sk_test_|ak_|inv_)[0-9A-Za-z]{49}$"],
  "packages/public-api/src/iban.ts: new RegExp(`^${pattern}$`)": ["^[A-Z]{4}[0-9]{6}[A-Z0-9]{16}$"],
  'services/gateway/src/plugins/edge.ts: new RegExp(`^${url.replaceAll(".", "\\\\.").replaceAll(/:\\w+/g, "[^/]+")}$`)': [
    "^/api/v1/businesses/[^/]+/api-keys/[^/]+$",
  ],
  // The terms are words of the search index. They have no punctuation, so they need no escaping.
  'services/gateway/src/pages/guide-search.js: new RegExp(`(${terms.join("|")})`, "giu")': ["(payment|pay|refund)"],
  // The expressions of these calls are constants that are also patterns of the OpenAPI document.
  "packages/public-api/src/bank-details.ts: new RegExp(accountNumberPattern)": [],
  "packages/public-api/src/bic.ts: new RegExp(bicPattern)": [],
  "packages/public-api/src/routing-number.ts: new RegExp(routingNumberPattern)": [],
  "services/gateway/src/plugins/idempotency-key.ts: new RegExp(idempotencyKeyPattern)": [],
  // The expression is a constant of the class.
  "sdks/php/src/transport.php: preg_match(self::ENCRYPTED_OR_LOOPBACK, $baseUrl)) {": [
    "^(https:|http://(([a-z0-9-]+\\.)*localhost|127(\\.[0-9]{1,3}){3}|\\[::1\\])(:[0-9]+)?(/|$))",
  ],
};

/** Expressions that the checker cannot decide, each with the reason why it is linear. */
const decided: Readonly<Record<string, string>> = {
  "( - detail: |DETAIL: )?(Failing row contains|Key) \\(.*?(?=\\n {4}at |$)":
    "after its first words it matches at the end of the text at the latest, so it reads each character once",
  "(?=.*[1-9])": "a part of the next expression",
  "^(?=.*[1-9])\\d{1,15}(\\.\\d{1,2})?$": "the lookahead runs once, at the start, and reads the text once",
  "(?=0*([5-9]\\d|[1-9]\\d{2,11})(\\.|$))": "a part of the next expression",
  "^(?=0*([5-9]\\d|[1-9]\\d{2,11})(\\.|$))\\d{1,15}(\\.\\d{1,2})?$":
    "the lookahead runs once, at the start; only one part of it matches a 0, and the rest has a bounded length",
};

const sources = ["*.ts", "*.js", "*.mjs", "*.py", "*.php", "docs/guide/*.md", "sdks/*.md", "docs/api/openapi.json"];
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...sources], { cwd: root })
  .toString()
  .split("\n")
  .filter((file) => file && existsSync(join(root, file)) && !withoutExternalInput.test(file));
const found = files.map((file) => findExpressions(file, readFileSync(join(root, file), "utf8")));

describe("regular expressions for external input", () => {
  test("the repository's regular expressions have constant text in the source, or are listed with their computed text", () => {
    expect(found.flatMap((file) => file.computed).sort()).toEqual(Object.keys(computed).sort());
  });

  test("the repository's regular expressions for external input match in linear time", { timeout: 600_000 }, () => {
    const listed = Object.entries(computed).flatMap(([at, patterns]) => patterns.map((pattern) => ({ at, pattern, flags: "" })));
    const all: RegularExpression[] = [...found.flatMap(({ expressions }) => expressions), ...listed];
    const checked = new Set<string>();
    const problems: string[] = [];
    for (const { pattern, flags, at } of all) {
      const text = `/${pattern}/${flags}`;
      if (checked.has(text) || Object.hasOwn(decided, pattern)) continue;
      checked.add(text);
      const problem = findSuperLinearity(pattern, flags);
      if (problem) problems.push(`${at}: ${text} ${problem}`);
    }
    expect(problems).toEqual([]);
    expect(checked.size).toBeGreaterThan(100);
    const patterns = new Set(all.map(({ pattern }) => pattern));
    expect(Object.keys(decided).filter((pattern) => !patterns.has(pattern))).toEqual([]);
  });
});

describe("findSuperLinearity", () => {
  test.each([
    ["nested quantifiers", "^(a+)+$", "exponential"],
    ["alternatives that overlap", "^(a|a)*$", "exponential"],
    ["adjacent repetitions of the same characters", "^\\s*\\s*$", "2nd degree polynomial"],
    ["an unanchored repetition", "\\s+$", "2nd degree polynomial"],
    ["a string that is never closed", '"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"', "2nd degree polynomial"],
    ["bounded repetitions with very many combinations", "^(a{1,40}){1,40}$", "can match in more than 1000 ways"],
  ])("findSuperLinearity reports a regular expression with %s", (_name, pattern, summary) => {
    expect(findSuperLinearity(pattern, "s")).toMatch(summary);
  });

  test.each(["^(a+)\\1$", "a(?=b*c)"])(
    "findSuperLinearity reports that it cannot analyze the regular expression %s",
    (pattern) => {
      expect(findSuperLinearity(pattern, "")).toMatch(/^cannot be decided \(unsupported: .+\): write it in a simpler way$/);
    },
  );

  test.each(["^[a-z]+$", "^(a{1,3}b){2}$", '^"(?:[^"\\\\]|\\\\.)*"', "[0-9a-f]{8}-[0-9a-f-]{27}"])(
    "findSuperLinearity accepts the regular expression %s",
    (pattern) => {
      expect(findSuperLinearity(pattern, "")).toBeUndefined();
    },
  );
});

describe("findExpressions", () => {
  const found = (file: string, text: string) =>
    findExpressions(file, text).expressions.map(({ pattern, flags }) => `/${pattern}/${flags}`);

  test("findExpressions finds regular expressions in literals, constructor calls and schemas of TypeScript code", () => {
    const text = "const a = /x\\/y/gi; const b = new RegExp(`b+`); RegExp('c', 'u'); ({ pattern: \"^d$\" }); // /e/";
    expect(found("a.ts", text)).toEqual(["/x\\/y/gi", "/b+/", "/c/u", "/^d$/u"]);
  });

  test("findExpressions finds regular expressions in Python and PHP calls, with the anchors that the call adds", () => {
    expect(found("a.py", "re.fullmatch(r'a|b', x); re.search(\"c\", x)")).toEqual(["/^(?:a|b)$/", "/c/"]);
    expect(found("a.php", "preg_match('~^a/b$~Du', $x)")).toEqual(["/^a/b$/u"]);
  });

  test("findExpressions reports calls whose regular expression is computed", () => {
    expect(findExpressions("a.ts", "new RegExp(a + b)").computed).toEqual(["a.ts: new RegExp(a + b)"]);
    expect(findExpressions("a.py", "re.compile(pattern)").computed).toEqual(["a.py: re.compile(pattern)"]);
    expect(findExpressions("a.php", "preg_match($pattern, $x)").computed).toEqual(["a.php: preg_match($pattern, $x)"]);
  });

  test("findExpressions finds regular expressions in a document's code samples and in an OpenAPI document's schemas", () => {
    expect(found("a.md", "text /no/\n```ts\nconst a = /b/;\n```\n")).toEqual(["/b/"]);
    expect(found("a.json", '{"x":{"pattern":"^a$"},"y":[{"pattern":"b"}]}')).toEqual(["/^a$/u", "/b/u"]);
  });
});
