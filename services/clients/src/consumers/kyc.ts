import { enumName } from "@amana/contracts/enum-names";
import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { type KycEvent, KycEventSchema } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { type Message, type TopicHandler, UnknownEventTypeError } from "@amana/messaging";
import { isUuid } from "@amana/runtime";
import { fromBinary } from "@bufbuild/protobuf";
import { LockMode } from "@mikro-orm/postgresql";
import { Client } from "../client/client.ts";
import type { Context } from "../context.ts";
import { approveAutomatically } from "../onboarding/apply-decision.ts";
import { Onboarding, type Verification } from "../onboarding/onboarding.ts";

/** Creates the handler that applies events of KYC applications to onboardings and clients. */
export const kyc = (context: Context): TopicHandler => ({
  topic: "kyc.v1",
  consumer: "clients",
  schema: KycEventSchema,
  async effect(em, messages) {
    const events = messages.map(readEvent).filter((event) => event !== undefined);
    if (events.length === 0) return;
    const now = context.clock.now();
    const ids = [...new Set(events.map(({ clientId }) => clientId))];
    // Locks the rows in a fixed order to prevent deadlocks between batches for the same clients.
    const options = { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    const clients = new Map((await em.find(Client, { id: { $in: ids } }, options)).map((client) => [client.id, client]));
    const onboardings = new Map(
      (await em.find(Onboarding, { clientId: { $in: ids } }, options)).map((onboarding) => [onboarding.clientId, onboarding]),
    );
    for (const { clientId, businessId, verification } of events) {
      const [client, onboarding] = [clients.get(clientId), onboardings.get(clientId)];
      if (!client || !onboarding || client.businessId !== businessId)
        throw new Error(`client ${clientId} not found for this KYC event`);
      onboarding.applyVerification(verification, now);
      approveAutomatically(em, context, onboarding, now);
      client.setKycStatus(onboarding.kycStatus, now);
    }
  },
});

/**
 * Returns the client and the verification of an event, or undefined if the application has no
 * client. Throws for an invalid event.
 */
function readEvent(message: Message): { clientId: string; businessId: string; verification: Verification } | undefined {
  const { application, revision }: KycEvent = fromBinary(KycEventSchema, message.payload);
  if (!application) throw new TypeError("KYC event without an application");
  const { id, clientId, businessId, attemptsRemaining } = application;
  if (clientId === undefined) return undefined;
  const status = enumName(KycStatus, application.status);
  if (!status && application.status !== KycStatus.UNSPECIFIED) throw new UnknownEventTypeError(`status ${application.status}`);
  if (!status || !isUuid(id) || !isUuid(clientId)) throw new TypeError("KYC event with an invalid status or id");
  const verdict = enumName(KycVerdict, application.verdict);
  // Throws, because a COMPLETED verification would stay in review without its verdict.
  if (verdict !== undefined && !verdict) throw new UnknownEventTypeError(`verdict ${application.verdict}`);
  const createdAt = new Date(Number(application.createdAtMs));
  const verification = { id, createdAt, revision, status, verdict: verdict ?? null, attemptsRemaining };
  return { clientId: clientId.toLowerCase(), businessId, verification };
}
