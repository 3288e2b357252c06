import { randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { createLogger } from "@amana/runtime";
import { createTestDatabase, type TestDatabase } from "@amana/testing";
import { defineEntity, p } from "@mikro-orm/postgresql";
import { Migration } from "@mikro-orm/migrations";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { namedQuery } from "./named-query.ts";
