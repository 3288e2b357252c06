import type { Orm } from "@amana/database";
import { eventually } from "@amana/testing";
import { expect } from "vitest";
import { outbox } from "./database.ts";

/** Resolves when a relay has recorded all committed messages as published. */
export const waitForRelay = (orm: Orm) => eventually(async () => expect(await outbox(orm)).toEqual([]), 20_000);
