import { randomUUID } from "node:crypto";
import { createOrm, transaction } from "@amana/database";
import { allTenants, createLogger, forTenant } from "@amana/runtime";
import { copyTestDatabase } from "@amana/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { restartDeliveries } from "./replay-step.ts";

test("a connection prepares one statement for restartDeliveries, whatever the sizes of the batches are", async () => {
  await using db = await copyTestDatabase("webhooks", database);
  const orm = await createOrm({ ...database, url: db.url, forTenants: true, poolMax: 1 }, createLogger("test", "silent"));
  try {
    await forTenant(allTenants, async () => {
      for (const batch of [16, 17])
        for (let i = 0; i < 5; i++) await transaction(orm, (em) => restartDeliveries(em, randomUUID(), batch));
    });
    const text = "select name from pg_prepared_statements where statement like '%update webhook_replay r%'";
    expect(await orm.em.fork().execute(text)).toHaveLength(1);
  } finally {
    await orm.close();
  }
});
