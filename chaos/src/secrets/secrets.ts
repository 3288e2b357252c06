import { serviceNames } from "@amana/dev-env/services";
import { databasePlaces, kafkaPlaces, logPlaces, type Place, placesWith } from "@amana/e2e/find-everywhere";
import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import type { Attempt, Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { Canaries } from "./canaries.ts";
import { failInTheDatabase, liveThrough, type Stage } from "./live-through.ts";

/**
 * A canary in every secret and personal field, through what goes well, what is refused and what
 * fails in the database; then a search of every row, every log at trace, PostgreSQL's own included,
 * every Kafka message, every webhook, and what operators are shown. A canary may be where it
 * belongs and nowhere else.
 */
export const secrets: Program = {
  attacks: "P6, P9: a secret or a person shows up where it does not belong",
  run,
};

async function run({ seed, signal, report, say }: Attempt): Promise<void> {
  const random = createRandom(seed);
  const canaries = new Canaries(random);
  const processorPassword = canaries.word("the processor's password");
  const providerToken = canaries.word("the provider's token");
  const env = Object.fromEntries(serviceNames.map((name) => [name, { LOG_LEVEL: "trace" }])) as Record<string, object>;
  env["payments"] = { ...env["payments"], SATIM_PASSWORD: processorPassword };
  env["kyc"] = { ...env["kyc"], KYC_PROVIDER_TOKEN: providerToken };
  env["sandbox"] = { ...env["sandbox"], SATIM_PASSWORD: processorPassword, KYC_PROVIDER_TOKEN: providerToken };
  env["gateway"] = { ...env["gateway"], RATE_LIMIT_FAILED_AUTH_PER_MINUTE: "0" };
  await using running = await startTestSystem("kafka", env);
  const { system } = running;
  for (const [name, value] of settingsThatAreSecret(serviceNames.map(system.envOf))) {
    canaries.watch(`the setting ${name}`, value);
  }
  say("the system runs, every log at trace");

  const shownToOperators: Place[] = [];
  const refusals: Place[] = [];
  const webhooks: Place[] = [];
  for (let round = 0; round === 0 || !signal.aborted; round++) {
    const business = await aBusiness(system);
    try {
      const stage: Stage = { system, business, canaries, report, refusals, shown: shownToOperators };
      canaries.watch("an API key", business.key);
      canaries.watch("a webhook secret", business.secret);
      await liveThrough(stage);
      await failInTheDatabase(stage);
      report.count("businesses that lived through everything");
    } finally {
      webhooks.push({ name: "webhooks", content: business.receiver.received.map(({ text }) => text).join("\n") });
      await business.receiver[Symbol.asyncDispose]();
    }
    say(`round ${round + 1}: ${canaries.made.length} canaries`);
  }

  const places = [
    ...(await databasePlaces(system)),
    ...(await logPlaces(system)),
    ...(await kafkaPlaces(running.kafka?.brokers ?? "")),
    ...webhooks,
    ...refusals,
    ...shownToOperators,
  ];
  report.count("places searched", places.length);
  for (const { name, word, allowed } of canaries.made) {
    const found = placesWith(places, word);
    const wrong = found.filter((place) => !allowed.some((begin) => place.startsWith(begin)));
    report.check("canaries", wrong.length === 0, () => `${name} is in ${wrong.join(", ")}`);
    if (found.length > 0) report.count("canaries found where they belong");
  }
  // A search that is blind finds nothing anywhere: the server's log and the databases must have
  // been read.
  const log = places.find(({ name }) => name === "log: postgres.log")?.content ?? "";
  report.check("PostgreSQL's own log tells of failures", log.includes("duplicate key value"), () => "no duplicate key in it");
}

/**
 * Settings that hold secrets, by name; what is shorter than ten characters would be found by
 * chance.
 */
function settingsThatAreSecret(settings: readonly Record<string, string>[]): [name: string, value: string][] {
  const found = new Map<string, string>();
  for (const each of settings) {
    for (const [name, value] of Object.entries(each)) {
      if (!/SECRET|PASSWORD|TOKEN|PRIVATE|MAC_KEYS|ENCRYPTION|BOOTSTRAP/.test(name) || /PUBLIC|_MS$|SECONDS/.test(name)) continue;
      // "id:secret" and "topic=id:secret", comma-separated.
      for (const part of value.split(",")) {
        const secret = part.split(/[:=](?=[A-Za-z0-9+/_-]{16,})/).at(-1) ?? "";
        if (secret.length >= 10) found.set(`${name} ${found.size}`, secret);
      }
    }
    const password = each["DATABASE_URL"] && new URL(each["DATABASE_URL"]).password;
    if (password) found.set("DATABASE_URL", password);
  }
  return [...found];
}
