import { columnsOfEvidence } from "@amana/service-host/testing";
import { expect, test } from "vitest";
import { database } from "../orm.ts";
import { evidenceColumns } from "./evidence.ts";

test("evidenceColumns of the payments service lists each column of the payments tables once, either as shown or as omitted", async () => {
  const { listed, existing } = await columnsOfEvidence("payments", database, evidenceColumns);
  expect(listed, "list each column once in evidenceColumns").toEqual(existing);
});
