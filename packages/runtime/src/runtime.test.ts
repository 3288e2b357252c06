import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { backoffMs, jitter, readEnv, SettingsError, uuidv7 } from "./index.ts";

describe("settings", () => {
  test("every problem is reported together", () => {
    const read = () =>
      readEnv(
        (env) => ({
          port: env.integer("PORT", { fallback: 8080, max: 65_535 }),
          database: env.string("DATABASE_URL"),
          mode: env.choice("MODE", ["a", "b"]),
          key: env.key("KEY", 32),
          on: env.boolean("ON", false),
          url: env.url("URL"),
        }),
        { PORT: "99999", MODE: "c", KEY: "AAAA", ON: "yes", URL: "ftp://x" },
      );
    expect(read).toThrow(SettingsError);
    try {
      read();
    } catch (error) {
      const names = (error as SettingsError).problems.map((problem) => problem.split(" ")[0]);
      expect(names).toEqual(["PORT", "DATABASE_URL", "MODE", "KEY", "ON", "URL"]);
      expect((error as Error).message).not.toContain("AAAA");
    }
  });

  test("a mounted file gives the value, and the result is frozen", () => {
    const file = join(tmpdir(), `amana-setting-${process.pid}`);
    writeFileSync(file, "from a file\n");
    const settings = readEnv((env) => ({ secret: env.string("SECRET"), words: env.list("WORDS") }), {
      SECRET_FILE: file,
      WORDS: "a, b,,c",
    });
    expect(settings).toEqual({ secret: "from a file", words: ["a", "b", "c"] });
    expect(Object.isFrozen(settings)).toBe(true);
  });

  test("a missing mounted file is a problem, not a silent default", () => {
    expect(() => readEnv((env) => ({ secret: env.string("SECRET", "x") }), { SECRET_FILE: "/nowhere/at/all" })).toThrow(
      /SECRET_FILE/,
    );
  });
});

describe("identifiers", () => {
  test("are UUIDs of version 7, in order of time, without repetition", () => {
    const ids = Array.from({ length: 5_000 }, () => uuidv7());
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect(uuidv7(1_000) < uuidv7(2_000)).toBe(true);
  });
});

describe("backoff", () => {
  test("doubles with jitter of a fifth and stays under its bound", () => {
    expect(jitter(1_000, 0.2, () => 0)).toBe(800);
    expect(jitter(1_000, 0.2, () => 1)).toBe(1_200);
    expect(backoffMs(1, 100, 10_000)).toBeLessThanOrEqual(120);
    expect(backoffMs(50, 100, 10_000)).toBe(10_000);
  });
});
