import { Command } from "commander";

type AddGroup = (program: Command) => void;

/** Loaders of the command groups. A command loads only its own group, so that it starts fast. */
export const apiGroups: Readonly<Record<string, () => Promise<AddGroup>>> = {
  businesses: async () => (await import("./api/commands/businesses.ts")).businesses,
  invitations: async () => (await import("./api/commands/invitations.ts")).invitations,
  "operator-keys": async () => (await import("./api/commands/operator-keys.ts")).operatorKeys,
  "api-keys": async () => (await import("./api/commands/api-keys.ts")).apiKeys,
  payments: async () => (await import("./api/commands/payments.ts")).payments,
  "payment-links": async () => (await import("./api/commands/payment-links.ts")).paymentLinks,
  certify: async () => (await import("./api/commands/certify.ts")).certify,
  refunds: async () => (await import("./api/commands/refunds.ts")).refunds,
  kyc: async () => (await import("./api/commands/kyc.ts")).kyc,
  onboarding: async () => (await import("./api/commands/onboarding.ts")).onboarding,
  events: async () => (await import("./api/commands/events.ts")).events,
  webhooks: async () => (await import("./api/commands/webhooks.ts")).webhooks,
  deliveries: async () => (await import("./api/commands/deliveries.ts")).deliveries,
  "dead-letters": async () => (await import("./api/commands/dead-letters.ts")).deadLetters,
};

const databaseGroups: Readonly<Record<string, () => Promise<AddGroup>>> = {
  stuck: async () => (await import("./database/commands/stuck.ts")).stuck,
  outbox: async () => (await import("./database/commands/outbox.ts")).outbox,
  migrate: async () => (await import("./database/commands/migrate.ts")).migrateStatus,
  secrets: async () => (await import("./database/commands/secrets.ts")).secrets,
  "kyc-provider": async () => (await import("./database/commands/kyc-provider.ts")).kycProvider,
  audit: async () => (await import("./database/commands/audit.ts")).audit,
  restored: async () => (await import("./database/commands/restored.ts")).restored,
};

/** Returns the program with the command group `group`, or with all groups, for the help. */
export async function createProgram(group?: string): Promise<Command> {
  const program = new Command("amana")
    .description("Manage an Amana deployment.")
    .addHelpText("after", helpNote)
    .helpCommand(false)
    .showHelpAfterError("(see amana --help)")
    .exitOverride();
  const loadGroup = new Map(Object.entries({ ...apiGroups, ...databaseGroups })).get(group ?? "");
  if (loadGroup) {
    (await loadGroup())(program);
    return program;
  }
  program.commandsGroup("Commands that use the API:");
  for (const load of Object.values(apiGroups)) (await load())(program);
  program.commandsGroup("Commands that connect to the databases (the services may be down):");
  for (const load of Object.values(databaseGroups)) (await load())(program);
  return program;
}

const helpNote = `
Environment:
  AMANA_URL                                address of the deployment (option --url)
  AMANA_KEY, AMANA_KEY_FILE                API key, or a file with it (options --key, --key-file)
  PAYMENTS_DATABASE_URL, KYC_DATABASE_URL, …
                                           database of a service (option --database-url)
  DATABASE_URL                             database, if the command uses only one service
Default for all of them: the system that \`npx --yes pnpm@12 start\` runs on this machine.
dead-letters and api-keys revoke use the databases with --databases.

Exit codes:
  0    done
  1    rejected, or only a part is done
  2    invalid arguments or options, or a change without --yes and without a terminal
  3    a database or the API did not respond
  4    an operator must act (stuck, migrate status, audit verify, audit verify-bundle, restored)
  5    a change got no response and may have been executed
  130  stopped with Ctrl-C

Examples:
  amana payments list --status PAID
  amana dead-letters retry --all --databases
  amana <command> --help`;
