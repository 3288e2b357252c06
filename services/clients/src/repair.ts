import { KycEventSchema } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { recordAction, stuckInboxRows, stuckOutboxRows } from "@amana/messaging";
import type { ServiceDescription } from "@amana/service-host";
import { database } from "./orm.ts";

export const repair: ServiceDescription = {
  name: "clients",
  database,
  emits: ["audit.v1"],
  consumes: { "kyc.v1": KycEventSchema },
  record: recordAction("clients"),
  stuckRows: [...stuckInboxRows, ...stuckOutboxRows],
};
