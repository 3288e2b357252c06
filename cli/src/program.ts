import { Command } from "commander";

type Add = (program: Command) => void;

/** A noun's file is loaded when it is spoken of, or for help: the rest takes long to load. */
export const byApi: Readonly<Record<string, () => Promise<Add>>> = {
  businesses: async () => (await import("./api/commands/businesses.ts")).businesses,
  invitations: async () => (await import("./api/commands/invitations.ts")).invitations,
  "operator-keys": async () => (await import("./api/commands/operator-keys.ts")).operatorKeys,
  "api-keys": async () => (await import("./api/commands/api-keys.ts")).apiKeys,
  payments: async () => (await import("./api/commands/payments.ts")).payments,
  refunds: async () => (await import("./api/commands/refunds.ts")).refunds,
  kyc: async () => (await import("./api/commands/kyc.ts")).kyc,
  onboarding: async () => (await import("./api/commands/onboarding.ts")).onboarding,
  events: async () => (await import("./api/commands/events.ts")).events,
  webhooks: async () => (await import("./api/commands/webhooks.ts")).webhooks,
  deliveries: async () => (await import("./api/commands/deliveries.ts")).deliveries,
  "dead-letters": async () => (await import("./api/commands/dead-letters.ts")).deadLetters,
};

const atDatabases: Readonly<Record<string, () => Promise<Add>>> = {
  stuck: async () => (await import("./database/commands/stuck.ts")).stuck,
  outbox: async () => (await import("./database/commands/outbox.ts")).outbox,
  migrate: async () => (await import("./database/commands/migrate.ts")).migrateStatus,
  secrets: async () => (await import("./database/commands/secrets.ts")).secrets,
  audit: async () => (await import("./database/commands/audit.ts")).audit,
  restored: async () => (await import("./database/commands/restored.ts")).restored,
};

/** The whole command, or as much of it as `noun` needs; each noun adds its own. */
export async function createProgram(noun?: string): Promise<Command> {
  const program = new Command("amana")
    .description("For those who run a deployment of Amana or build on one.")
    .addHelpText("after", more)
    .helpCommand(false)
    .showHelpAfterError("(amana --help says more)")
    .exitOverride();
  const only = new Map(Object.entries({ ...byApi, ...atDatabases })).get(noun ?? "");
  if (only) {
    (await only())(program);
    return program;
  }
  program.commandsGroup("By the API:");
  for (const load of Object.values(byApi)) (await load())(program);
  program.commandsGroup("Straight at the services' databases, also while these are down:");
  for (const load of Object.values(atDatabases)) (await load())(program);
  return program;
}

const more = `
Which deployment: --url and --key-file, AMANA_URL and AMANA_KEY, or the system that \`npx --yes pnpm@12 start\` runs here.
Which databases: --database-url with --service, PAYMENTS_DATABASE_URL …, DATABASE_URL where one service is meant, or that
system's. dead-letters and api-keys revoke can be done both ways: --databases chooses.

Exit codes: 0 done; 1 refused, or not all of it done; 2 called wrongly; 3 a database or the API did not answer; 4 there is
something to do; 5 no answer came to a change, which may have been done all the same. --json prints one document.

Example:
  amana payments list --status PAID`;
