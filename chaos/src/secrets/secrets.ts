import { apiCaller } from "@amana/dev-env/demo/api";
import { type KycProvider, kycProviderSettings, serviceNames } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import {
  findFiles,
  findPlaces,
  type Place,
  readDatabasePlaces,
  readKafkaPlaces,
  readLogPlaces,
} from "@amana/e2e/find-everywhere";
import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import { createRepeater } from "../matrix/repeat-request.ts";
import type { Program, ProgramRun } from "../program.ts";
import { createRandom } from "../random.ts";
import { Canaries } from "./canaries.ts";
import { failInDatabase, type SecretsContext, sendCanaries } from "./send-canaries.ts";
import { verifyWithPersonalData } from "./verify-with-personal-data.ts";

const creationMsMax = 90_000;

/**
 * Returns a program that sends successful, rejected and failing requests with a canary in every
 * secret and personal field. Each round uses the next of these verification providers, and each
 * provider is used at least once. The provider adds canaries to its responses and callbacks. At the
 * end, the program searches all rows, logs at level trace, Kafka messages and webhooks, and the
 * responses to operators and about verifications. A canary may occur only in its allowed places. No
 * file of PostgreSQL or Kafka may contain the provider's personal data.
 */
export const secretsOf = (kycProviders: readonly KycProvider[]): Program => ({
  summary: "P6, P9: search rows, logs, messages and responses for secrets and personal data in places that must not have them",
  run: (options) => run(options, kycProviders),
});

export const secretsProgram: Program = {
  ...secretsOf(["port"]),
  run: (options) => run(options, [options.kycProvider ?? "port"]),
};

async function run({ seed, signal, report, log }: ProgramRun, kycProviders: readonly KycProvider[]): Promise<void> {
  const random = createRandom(seed);
  const canaries = new Canaries(random);
  const processorPassword = canaries.createText("the processor's password");
  const providerSettings = {
    KYC_PROVIDER_TOKEN: canaries.createText("the provider's token"),
    KYC_DIDIT_API_KEY: canaries.createText("the API key of Didit"),
    KYC_SUMSUB_APP_TOKEN: `sbx:${canaries.createText("the app token of Sumsub")}`,
    KYC_SUMSUB_SECRET_KEY: canaries.createText("the secret key of Sumsub"),
  };
  const env = Object.fromEntries(serviceNames.map((name) => [name, { LOG_LEVEL: "trace" }])) as Record<string, object>;
  env["payments"] = { ...env["payments"], SATIM_PASSWORD: processorPassword };
  // With the default timeout, a slow machine would cause other response statuses.
  env["kyc"] = { ...env["kyc"], ...providerSettings, KYC_PROVIDER_TIMEOUT_MS: "10000" };
  env["sandbox"] = { ...env["sandbox"], SATIM_PASSWORD: processorPassword, ...providerSettings };
  env["gateway"] = { ...env["gateway"], RATE_LIMIT_FAILED_AUTH_PER_MINUTE: "0" };
  await using testSystem = await startTestSystem("kafka", env);
  const { system } = testSystem;
  for (const [name, value] of findSecretSettings(serviceNames.map(system.envOf))) {
    canaries.add(`setting ${name}`, value);
  }
  log("the system is running with log level trace");

  const operatorResponses: Place[] = [];
  const verificationResponses: Place[] = [];
  const unstoredTexts: string[] = [];
  const rejections: Place[] = [];
  const webhooks: Place[] = [];
  let usedProvider: KycProvider | undefined;
  for (let round = 0; round < kycProviders.length || !signal.aborted; round++) {
    const kycProvider = kycProviders[round % kycProviders.length] as KycProvider;
    if (kycProvider !== usedProvider) await useKycProvider(system, kycProvider);
    usedProvider = kycProvider;
    const business = await aBusiness(system);
    try {
      const context: SecretsContext = {
        ...{ system, kycProvider, business, canaries, report },
        ...{ rejections, operatorResponses, verificationResponses, unstoredTexts },
      };
      canaries.add("an API key", business.key);
      canaries.add("a webhook secret", business.secret);
      await sendCanaries(context);
      await verifyWithPersonalData(context);
      await failInDatabase(context);
      report.count("businesses with canaries in all fields");
    } finally {
      webhooks.push({ name: "webhooks", content: business.receiver.received.map(({ text }) => text).join("\n") });
      await business.receiver[Symbol.asyncDispose]();
    }
    log(`round ${round + 1}: ${canaries.created.length} canaries`);
  }

  const places = [
    ...(await readDatabasePlaces(system)),
    ...(await readLogPlaces(system)),
    ...(await readKafkaPlaces(testSystem.kafka?.brokers ?? "")),
    ...webhooks,
    ...rejections,
    ...operatorResponses,
    ...verificationResponses,
  ];
  report.count("places searched", places.length);
  for (const { name, text, allowed } of canaries.created) {
    const placesOfCanary = findPlaces(places, text);
    const forbidden = placesOfCanary.filter((place) => !allowed.some((prefix) => place.startsWith(prefix)));
    report.check(
      "a canary occurs only in its allowed places",
      forbidden.length === 0,
      () => `${name} is in ${forbidden.join(", ")}`,
    );
    if (placesOfCanary.length > 0) report.count("canaries found in allowed places");
  }
  const files = await findFiles(testSystem.dir, unstoredTexts);
  report.check(
    "no file contains personal data of the verification provider",
    files.length === 0,
    () => `found in ${files.join(", ")}`,
  );
  // Proves that the search for personal data reads the files of PostgreSQL and of Kafka.
  const storedTexts = canaries.created.filter(({ name }) => name === "metadata").map(({ text }) => text);
  const filesWithMetadata = await findFiles(testSystem.dir, storedTexts);
  report.check(
    "files of PostgreSQL and of Kafka contain metadata",
    ["postgres", "kafka"].every((part) => filesWithMetadata.some((file) => file.includes(`/${part}/`))),
    () => `found in ${filesWithMetadata.join(", ")}`,
  );
  // Proves that the search for canaries reads the logs.
  const postgresLog = places.find(({ name }) => name === "log: postgres.log")?.content ?? "";
  report.check(
    "the log of PostgreSQL contains failed statements",
    postgresLog.includes("duplicate key value"),
    () => "the log contains no 'duplicate key value'",
  );
}

/**
 * Restarts kyc with a provider, and waits until an application can be created. kyc rejects
 * creations until it has read the vendor's configuration. Cancels the application, because faults
 * for the next provider could otherwise affect kyc's polls of this application.
 */
async function useKycProvider({ gatewayUrl, business, services }: System, kycProvider: KycProvider): Promise<void> {
  await services.kyc.stop();
  await services.kyc.start(kycProviderSettings(kycProvider));
  const repeat = createRepeater({ gatewayUrl: () => gatewayUrl, signal: AbortSignal.timeout(creationMsMax) });
  const created = await repeat(business.api_key, "/api/v1/kyc/applications", {}, ({ status }) => status === 201);
  if (!created)
    throw new Error(
      `no application could be created within ${creationMsMax / 1000} s after the start of kyc with ${kycProvider}`,
    );
  const canceled = await apiCaller(gatewayUrl, business.api_key)("POST", `/api/v1/kyc/applications/${created["id"]}/cancel`);
  if (canceled.status !== 200) throw new Error(`the cancellation returned ${canceled.status}: ${canceled.text}`);
}

/**
 * Returns the secrets in settings. Skips secrets with less than ten characters, because such texts
 * also occur by chance.
 */
function findSecretSettings(settings: readonly Record<string, string>[]): [name: string, value: string][] {
  const secretsByName = new Map<string, string>();
  for (const serviceSettings of settings) {
    for (const [name, value] of Object.entries(serviceSettings)) {
      if (!/SECRET|PASSWORD|TOKEN|PRIVATE|MAC_KEYS|ENCRYPTION|BOOTSTRAP/.test(name) || /PUBLIC|_MS$|SECONDS/.test(name)) continue;
      // A value is a comma-separated list of "secret", "id:secret" or "topic=id:secret".
      for (const part of value.split(",")) {
        const secret = part.split(/[:=](?=[A-Za-z0-9+/_-]{16,})/).at(-1) ?? "";
        if (secret.length >= 10) secretsByName.set(`${name} ${secretsByName.size}`, secret);
      }
    }
    const password = serviceSettings["DATABASE_URL"] && new URL(serviceSettings["DATABASE_URL"]).password;
    if (password) secretsByName.set("DATABASE_URL", password);
  }
  return [...secretsByName];
}
