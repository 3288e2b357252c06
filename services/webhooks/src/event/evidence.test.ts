import { columnsOfEvidence } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { evidenceColumns } from "./evidence.ts";

test("evidenceColumns of the webhooks service lists each column of the webhooks tables exactly once, either in `shown` or in `leftOut`", async () => {
  const { listed, existing } = await columnsOfEvidence("webhooks", database, evidenceColumns);
  expect(listed, "list each column once in evidenceColumns").toEqual(existing);
});
