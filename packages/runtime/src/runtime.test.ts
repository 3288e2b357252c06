import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  atMostEvery,
  atMostEveryForKey,
  backoffMs,
  createBatcher,
  createLogger,
  type EnvReader,
  inTrace,
  isUuid,
  jitter,
  readEnv,
  SettingsError,
  scheduledPause,
  sleep,
  uuidv7,
} from "./index.ts";

/** Properties of the OpenAPI document whose names show that their values are secrets. */
const secretsOfTheApi: string[] = [
  ...new Set(
    readFileSync(new URL("../../../docs/api/openapi.json", import.meta.url), "utf8")
      .match(/(?<=")(\w+_key|\w*secret|\w*token|link_url|form_url)(?=": ?\{)/g)
      ?.filter((name) => !name.startsWith("rotate_")),
  ),
];

describe("readEnv", () => {
  test("readEnv throws one SettingsError that lists all invalid settings", () => {
    const read = () =>
      readEnv(
        (env) => ({
          port: env.integer("PORT", { fallback: 8080, max: 65_535 }),
          database: env.string("DATABASE_URL"),
          mode: env.choice("MODE", ["a", "b"]),
          keys: env.keys("KEYS", 32),
          on: env.boolean("ON", false),
          url: env.url("URL"),
        }),
        { PORT: "99999", MODE: "c", KEYS: "AAAA", ON: "yes", URL: "ftp://x" },
      );
    expect(read).toThrow(SettingsError);
    try {
      read();
    } catch (error) {
      const names = (error as SettingsError).problems.map((problem) => problem.split(" ")[0]);
      expect(names).toEqual(["PORT", "DATABASE_URL", "MODE", "KEYS", "ON", "URL"]);
      expect((error as Error).message).not.toContain("AAAA");
    }
  });

  test("readEnv rejects sandbox-only settings and external http URLs in production, and accepts both outside of production", () => {
    const build = (env: EnvReader) => ({ on: env.sandboxOnly("ALLOW"), url: env.externalUrl("EXTERNAL_URL") });
    const sandbox = { ALLOW: "true", EXTERNAL_URL: "http://127.0.0.1:1" };
    expect(readEnv(build, sandbox)).toEqual({ on: true, url: "http://127.0.0.1:1" });
    expect(readEnv(build, { EXTERNAL_URL: "https://x.test", NODE_ENV: "production" })).toMatchObject({ on: false });
    expect(() => readEnv(build, { ...sandbox, NODE_ENV: "production" })).toThrow(
      /ALLOW is for sandboxes[\s\S]*EXTERNAL_URL must be/,
    );
  });

  test("readEnv accepts only comma-separated numbers of seconds as a schedule", () => {
    expect(readEnv((env) => ({ pauses: env.seconds("PAUSES", "1,2") }), { PAUSES: "0.5,10" }).pauses).toEqual([0.5, 10]);
    for (const text of ["1,,2", "a", "-1", "1;2"]) {
      expect(() => readEnv((env) => ({ pauses: env.seconds("PAUSES", "1") }), { PAUSES: text })).toThrow(/PAUSES/);
    }
  });

  test("readEnv reads the setting SECRET from the file that SECRET_FILE names, and freezes the settings", () => {
    const file = join(tmpdir(), `amana-setting-${process.pid}`);
    writeFileSync(file, "from a file\n");
    const settings = readEnv((env) => ({ secret: env.string("SECRET"), words: env.list("WORDS") }), {
      SECRET_FILE: file,
      WORDS: "a, b,,c",
    });
    expect(settings).toEqual({ secret: "from a file", words: ["a", "b", "c"] });
    expect(Object.isFrozen(settings)).toBe(true);
  });

  test("readEnv throws when the file that SECRET_FILE names is missing, even if SECRET has a default", () => {
    expect(() => readEnv((env) => ({ secret: env.string("SECRET", "x") }), { SECRET_FILE: "/nowhere/at/all" })).toThrow(
      /SECRET_FILE/,
    );
  });
});

describe("createLogger", () => {
  const logged = (write: (logger: ReturnType<typeof createLogger>) => void): string => {
    let text = "";
    write(
      createLogger("test", "trace", {
        write: (line) => {
          text += line;
        },
      }),
    );
    return text;
  };

  test("createLogger adds the ids of the current trace and request, and adds no ids outside of a trace", async () => {
    const lines: object[] = [];
    const logger = createLogger("test", "trace", { write: (line) => void lines.push(JSON.parse(line)) });
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    const batch = createBatcher<string>(10, async () => logger.info("of a batch"));
    await inTrace({ traceparent, requestId: "request-1" }, async () => {
      await sleep(1);
      logger.info({ request_id: "its-own" }, "given");
      await batch(["a"]);
      inTrace(undefined, () => logger.info("without a trace"));
      logger.info("in the trace");
    });
    logger.info("outside");
    const trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
    expect(lines).toMatchObject([{ trace_id, request_id: "its-own" }, {}, {}, { trace_id, request_id: "request-1" }, {}]);
    for (const i of [1, 2, 4]) expect(lines[i]).not.toHaveProperty("trace_id");
  });

  test("createLogger redacts the values of secret fields in nested objects and lists", () => {
    const text = logged((logger) =>
      logger.info(
        {
          api_key: "canary-1",
          request: { headers: { authorization: "canary-2" } },
          list: [{ link_url: "canary-3" }],
          other: "visible",
        },
        "x",
      ),
    );
    expect(text).not.toContain("canary");
    expect(text).toContain("visible");
    expect(text.match(/\[redacted\]/g)).toHaveLength(3);
  });

  test.each(secretsOfTheApi)("createLogger redacts the value of the secret API field %s", (name) => {
    const camelCase = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
    const text = logged((logger) => logger.info({ [name]: "canary", response: { [camelCase]: "canary" } }, "x"));
    expect(text).not.toContain("canary");
  });

  test("createLogger writes the stack of a database error, but not the row values that the error contains", () => {
    const error = Object.assign(new Error("null value\n - detail: Failing row contains (canary, 7)."), {
      detail: "Failing row contains (canary)",
    });
    const text = logged((logger) => logger.error({ err: error }, "x"));
    expect(text).not.toContain("canary");
    expect(text).toContain("runtime.test.ts");
  });

  test.each(["(canary\ncanary, 7).", "(x).\n    at canary (canary.ts:1:1), canary).", "(a, b) = (canary\n\ncanary) exists."])(
    "createLogger removes row values with line breaks from a database error: %j",
    (values) => {
      const error = new Error(`null value\n - detail: Failing row contains ${values}`);
      const text = logged((logger) => logger.error({ err: error }, "x"));
      expect(text).not.toContain("canary");
      expect(text).toContain("[row]");
      expect(text).toContain("runtime.test.ts");
    },
  );
});

describe("uuidv7", () => {
  test("uuidv7 returns unique UUIDs of version 7 that sort by time", () => {
    const ids = Array.from({ length: 5_000 }, () => uuidv7());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect(uuidv7(1_000) < uuidv7(2_000)).toBe(true);
    expect(ids.every(isUuid)).toBe(true);
    expect(isUuid("not one")).toBe(false);
    expect(isUuid(undefined)).toBe(false);
  });
});

describe("backoffMs", () => {
  test("backoffMs returns a pause with 20 % jitter that does not exceed the maximum", () => {
    expect(jitter(1_000, 0.2, () => 0)).toBe(800);
    expect(jitter(1_000, 0.2, () => 1)).toBe(1_200);
    expect(backoffMs(1, 100, 10_000)).toBeLessThanOrEqual(120);
    expect(backoffMs(50, 100, 10_000)).toBe(10_000);
  });
});

test("scheduledPause returns the schedule's pauses in order, and the last pause for each later attempt", () => {
  expect([0, 1, 2, 9].map((done) => scheduledPause([1, 5, 30], done))).toEqual([1, 5, 30, 30]);
  expect(() => scheduledPause([], 0)).toThrow(RangeError);
});

test("atMostEvery calls the given function once within an interval, and again after the interval", async () => {
  let calls = 0;
  const readOncePerMinute = atMostEvery(60_000, async () => ++calls);
  expect(await Promise.all([readOncePerMinute(), readOncePerMinute()])).toEqual([1, 1]);
  expect(await readOncePerMinute()).toBe(1);

  const readEachTime = atMostEvery(0, async () => ++calls);
  expect([await readEachTime(), await readEachTime()]).toEqual([2, 3]);
});

test("atMostEveryForKey reads once for each key within an interval, and again after a failed read or for a key beyond the maximum", async () => {
  let calls = 0;
  const read = async () => ++calls;
  const oncePerMinute = atMostEveryForKey<number>(60_000, 2);
  expect(await Promise.all([oncePerMinute("a", read), oncePerMinute("a", read), oncePerMinute("b", read)])).toEqual([1, 1, 2]);
  expect(await oncePerMinute("a", read)).toBe(1);
  expect(await oncePerMinute("c", read)).toBe(3);
  expect(await oncePerMinute("a", read)).toBe(4);

  const failure = new Error("the database is unavailable");
  await expect(oncePerMinute("d", () => Promise.reject(failure))).rejects.toBe(failure);
  expect(await oncePerMinute("d", read)).toBe(5);

  const eachTime = atMostEveryForKey<number>(0, 2);
  expect([await eachTime("a", read), await eachTime("a", read)]).toEqual([6, 7]);
});
