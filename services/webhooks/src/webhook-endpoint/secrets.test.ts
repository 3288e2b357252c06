import { expect, test } from "vitest";
import { newSecret } from "./secrets.ts";

test("newSecret returns a webhook secret with the prefix whsec_ and 32 random bytes", () => {
  const secret = newSecret();
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newSecret()).not.toBe(secret);
});
