import { pascalCase } from "@amana/contracts/enum-names";
import { KycEventSchema, KycEventType } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { addToOutbox } from "@amana/messaging";
import { create, toBinary } from "@bufbuild/protobuf";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import { toKycApplicationMessage } from "./kyc-application.message.ts";
import type { KycApplication, KycChange } from "./kyc-application.ts";

/** Announces what happened to an application, as it is now and without its link, with the transaction of `em`. */
export function announce(em: SqlEntityManager, application: KycApplication, change: KycChange, now: Date): void {
  const { revision } = application;
  addToOutbox(em, {
    topic: "kyc.v1",
    // All about one client in one order: a verdict on an older application must not overtake the creation of a newer one.
    key: application.clientId ?? application.id,
    type: `kyc.v1.${pascalCase(change)}`,
    source: "kyc",
    payload: toBinary(
      KycEventSchema,
      create(KycEventSchema, { type: KycEventType[change], application: toKycApplicationMessage(application), revision }),
    ),
    occurredAt: now,
    traceparent: application.traceparent ?? undefined,
  });
}
