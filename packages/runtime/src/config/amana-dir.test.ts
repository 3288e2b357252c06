import { afterEach, expect, test, vi } from "vitest";
import { amanaDir } from "./amana-dir.ts";

afterEach(() => vi.unstubAllEnvs());

test.each([
  [undefined, "/project/.amana"],
  ["", "/project/.amana"],
  [" ", "/project/.amana"],
  ["other", "/project/other"],
  ["/srv/amana", "/srv/amana"],
])("amanaDir, for AMANA_DIR=%j, returns the folder %s", (value, folder) => {
  vi.stubEnv("AMANA_DIR", value);
  expect(amanaDir("/project")).toBe(folder);
});
