import { enumName } from "@amana/contracts/enum-names";
import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { type KycEvent, KycEventSchema } from "@amana/contracts/kyc/v1/kyc_events_pb";
import { type Message, type TopicHandler, UnknownEventTypeError } from "@amana/messaging";
import { isUuid } from "@amana/runtime";
import { fromBinary } from "@bufbuild/protobuf";
import { LockMode } from "@mikro-orm/postgresql";
import { Client } from "../client/client.ts";
import type { Context } from "../context.ts";
import { approveUnasked } from "../onboarding/decide.ts";
import { Onboarding, type Verification } from "../onboarding/onboarding.ts";

/** What is known of verifications moves the clients they are about. */
export const kyc = (context: Context): TopicHandler => ({
  topic: "kyc.v1",
  consumer: "clients",
  schema: KycEventSchema,
  async effect(em, messages) {
    const news = messages.map(toNews).filter((one) => one !== undefined);
    if (news.length === 0) return;
    const now = context.clock.now();
    const ids = [...new Set(news.map(({ clientId }) => clientId))];
    // In one order, so that two batches about the same clients do not wait in a circle.
    const locked = { orderBy: { id: "asc" }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    const clients = new Map((await em.find(Client, { id: { $in: ids } }, locked)).map((client) => [client.id, client]));
    const onboardings = new Map(
      (await em.find(Onboarding, { clientId: { $in: ids } }, locked)).map((onboarding) => [onboarding.clientId, onboarding]),
    );
    for (const { clientId, businessId, verification } of news) {
      const [client, onboarding] = [clients.get(clientId), onboardings.get(clientId)];
      if (!client || !onboarding || client.businessId !== businessId) throw new Error(`there is no client ${clientId}`);
      onboarding.applyVerification(verification, now);
      approveUnasked(em, context, onboarding, now);
      client.verificationIs(onboarding.kycStatus, now);
    }
  },
});

/** Undefined for a verification that is about no client. Throws for what is no such event. */
function toNews(message: Message): { clientId: string; businessId: string; verification: Verification } | undefined {
  const { application, revision }: KycEvent = fromBinary(KycEventSchema, message.payload);
  if (!application) throw new TypeError("a KYC event carries its application");
  const { id, clientId, businessId, attemptsRemaining } = application;
  if (clientId === undefined) return undefined;
  const status = enumName(KycStatus, application.status);
  if (!status && application.status !== KycStatus.UNSPECIFIED) throw new UnknownEventTypeError(`status ${application.status}`);
  if (!status || !isUuid(id) || !isUuid(clientId)) throw new TypeError("this KYC event makes no sense");
  const verdict = enumName(KycVerdict, application.verdict);
  // A COMPLETED verification without its verdict would be stored as in review for good.
  if (verdict !== undefined && !verdict) throw new UnknownEventTypeError(`verdict ${application.verdict}`);
  const createdAt = new Date(Number(application.createdAtMs));
  const verification = { id, createdAt, revision, status, verdict: verdict ?? null, attemptsRemaining };
  return { clientId: clientId.toLowerCase(), businessId, verification };
}
