import type { FastifyInstance } from "fastify";
import { overrideFields } from "../dialect.ts";
import { hmacHex } from "../hmac.ts";
import type { ProtocolRoutes } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";

/** Callback types to which the sandbox's webhook is subscribed. */
const webhookTypes = [
  "Created",
  "Pending",
  "Prechecked",
  "OnHold",
  "AwaitingUser",
  "AwaitingService",
  "Reviewed",
  "Reset",
  "LevelChanged",
  "PersonalInfoChanged",
  "Activated",
  "Deactivated",
  "Deleted",
  "PersonalDataDeleted",
  "WorkflowCompleted",
].map((name) => `applicant${name}`);

/** Registers the calls that read the configuration and the rights of the account. */
export function setupRoutes(app: FastifyInstance, { route, refuse }: ProtocolRoutes, { config, setup }: Provider): void {
  const levels = () =>
    Object.entries(config.sumsubLevels).map(([name, { types, isStill }]) =>
      overrideFields(
        {
          id: levelId(name),
          name,
          applicantType: "individual",
          websdkNext: true,
          requiredIdDocs: {
            includedCountries: ["DZA"],
            docSets: [
              { idDocSetType: "IDENTITY", types, videoRequired: "docapture" },
              { idDocSetType: "SELFIE", types: ["SELFIE"], videoRequired: isStill ? "photoRequired" : "passiveLiveness" },
            ],
          },
          watchListCheckSettings: { useCustomWatchListCheckSettings: false },
        },
        setup.sumsubLevel,
      ),
    );
  route("GET", "/resources/applicants/-/levels", undefined, () => ({ items: levels(), totalItems: levels().length }));
  route(
    "GET",
    "/resources/applicants/-/levels/:id",
    undefined,
    ({ params }, reply) => levels().find(({ id }) => id === params.id) ?? refuse(reply, 404, "Level not found"),
  );

  // kyc compares its clock with the header Date.
  app.get("/resources/status/api", (_request, reply) => reply.header("date", new Date().toUTCString()).send({ ok: true }));

  route("GET", "/resources/api/clientWebhooks/:id", undefined, ({ params }) => {
    const webhook = {
      id: params.id,
      name: "Amana",
      target: setup.callbackUrl ? `${setup.callbackUrl}/sumsub` : null,
      targetType: "http",
      types: webhookTypes,
      disabled: false,
      signatureAlgorithm: "HMAC_SHA256_HEX",
      secretKey: config.sumsubWebhookSecrets[0],
    };
    return overrideFields(webhook, setup.webhook);
  });

  route("GET", "/resources/api/agent/settings/bgCheckTargets", undefined, () => ({
    allowed: ["WATCHLISTS"],
    descriptions: { WATCHLISTS: "AML screening" },
  }));
}

const levelId = (name: string): string => hmacHex(name, "level").slice(0, 24);
