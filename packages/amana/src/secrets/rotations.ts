import { generateKeyPairSync, randomBytes } from "node:crypto";
import { Refused } from "../refused.ts";
import type { SettingsFiles } from "./settings-files.ts";

/** One secret's way from the old value to the new one without a call that is refused. */
export interface Rotation {
  readonly name: string;
  readonly summary: string;
  /** Settings change step by step, and behind each these services are restarted one by one. */
  readonly steps: readonly Step[];
}

export interface Step {
  /** What is done to the settings, for whoever runs the command. */
  readonly does: string;
  edit(files: SettingsFiles): void;
  readonly restart: readonly string[];
  /** What else a person has to do before the next step. */
  readonly besides?: string;
  /** Hours since the step before that must have gone by. */
  readonly afterHours?: number;
  /** Rows under former keys are encrypted anew before this step. */
  readonly reencrypts?: readonly string[];
}

/** Kafka keeps messages for seven days unless it is told otherwise. */
const retentionHours = 7 * 24;
/** Idempotency-Keys are kept for a day, with their fingerprints. */
const fingerprintHours = 25;

const newId = () => `k${new Date().toISOString().slice(0, 10).replaceAll("-", "")}-${randomBytes(2).toString("hex")}`;
const newKey = () => randomBytes(32).toString("base64");

interface ListedSecret {
  readonly name: string;
  readonly summary: string;
  /** Which of a setting's entries are this secret's; undefined: the setting has none of it. */
  mine(setting: string, value: string): ((entry: string) => boolean) | undefined;
  make(): string;
  readonly services: readonly string[];
  readonly last?: Omit<Partial<Step>, "edit" | "does">;
}

/** A secret of which a service takes several, the first to work with and all to check with. */
function listed({ name, summary, mine, make, services, last = {} }: ListedSecret): Rotation {
  const editing = (change: (entries: readonly string[]) => readonly string[]) => (files: SettingsFiles) => {
    requireSome(
      name,
      files.find((setting, value) => mine(setting, value) !== undefined),
    );
    files.change((setting, value) => {
      const isMine = mine(setting, value);
      if (!isMine) return value;
      const entries = value.split(",");
      const place = entries.findIndex(isMine);
      const others = entries.filter((entry) => !isMine(entry));
      return others.toSpliced(place, 0, ...change(entries.filter(isMine))).join(",");
    });
  };
  return {
    name,
    summary,
    steps: [
      {
        does: "A new key is added behind the old one: known, and not used yet.",
        edit(files) {
          const made = make();
          editing((entries) => [...entries, made])(files);
        },
        restart: services,
      },
      {
        does: "The new key goes in front: what is made from now on is made with it.",
        edit: editing((entries) => [...entries.slice(-1), ...entries.slice(0, -1)]),
        restart: services,
      },
      { does: "The old key is taken out.", edit: editing((entries) => entries.slice(0, 1)), restart: services, ...last },
    ],
  };
}

const eventKey = (topic: string, services: readonly string[]): Rotation =>
  listed({
    name: `event-key:${topic}`,
    summary: `the key that events of ${topic} are signed with (EVENT_MAC_KEYS)`,
    mine: (_setting, value) => {
      const isMine = (entry: string) => entry.startsWith(`${topic}=`);
      return value.split(",").some(isMine) ? isMine : undefined;
    },
    make: () => `${topic}=${newId()}:${newKey()}`,
    services,
    last: { afterHours: retentionHours },
  });

/** A pair whose public half others hold. */
function callerKey(service: string, publicSetting: string, believers: readonly string[]): Rotation {
  const idOf = (entry = "") => entry.split(":")[0];
  const own = `${service.toUpperCase()}_PRIVATE_KEY`;
  const next = `${own}_NEXT`;
  const listed = (files: SettingsFiles) => {
    const [first, ...others] = files.find((setting) => setting === publicSetting);
    requireSome(`${service}-key`, [first, ...others].filter(Boolean));
    return first?.value.split(",") ?? [];
  };
  const isPrivate = (id: string | undefined) => (setting: string, value: string) =>
    (setting === own || setting === "CALLER_PRIVATE_KEY") && idOf(value) === id;
  return {
    name: `${service}-key`,
    summary: `what ${service} vouches for callers with (${own} or CALLER_PRIVATE_KEY, ${publicSetting})`,
    steps: [
      {
        does: "A new pair is made: those who are called believe both from now on.",
        edit(files) {
          const id = newId();
          const { privateKey, publicKey } = generateKeyPairSync("ed25519");
          const isOld = isPrivate(idOf(listed(files)[0]));
          requireSome(`${service}-key`, files.find(isOld));
          files.addBehind(isOld, next, `${id}:${privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")}`);
          const added = `${id}:${publicKey.export({ format: "der", type: "spki" }).toString("base64")}`;
          files.change((setting, value) => (setting === publicSetting ? `${value},${added}` : value));
        },
        restart: believers,
      },
      {
        does: `${service} vouches with the new key.`,
        edit(files) {
          const [made] = files.find((setting) => setting === next);
          const isOld = isPrivate(idOf(listed(files)[0]));
          if (!made) throw new Refused(`${next} is missing from the settings. Begin anew with those from before the rotation.`);
          files.change((setting, value) => {
            if (setting === next) return undefined;
            return isOld(setting, value) ? made.value : value;
          });
        },
        restart: [service],
      },
      {
        does: "The old key is believed no longer.",
        edit: (files) => files.change((setting, value) => (setting === publicSetting ? (value.split(",").at(-1) ?? "") : value)),
        restart: believers,
      },
    ],
  };
}

function requireSome(name: string, found: readonly unknown[]): void {
  if (found.length > 0) return;
  throw new Refused(`The files do not have what ${name} needs. Name all of the deployment's with --settings.`);
}

const databaseServices = ["identity", "kyc", "clients", "payments", "webhooks"];

/** Those whose settings this command can change. */
export const rotations: readonly Rotation[] = [
  listed({
    name: "encryption-key",
    summary: "what webhook secrets and verification links are encrypted with (SECRET_ENCRYPTION_KEYS)",
    mine: (setting) => (setting === "SECRET_ENCRYPTION_KEYS" ? () => true : undefined),
    make: () => `${newId()}:${newKey()}`,
    services: ["webhooks", "kyc"],
    last: { reencrypts: ["webhooks", "kyc"] },
  }),
  eventKey("payments.v1", ["payments", "webhooks"]),
  eventKey("kyc.v1", ["kyc", "webhooks", "clients"]),
  eventKey("audit.v1", databaseServices),
  callerKey("gateway", "GATEWAY_PUBLIC_KEYS", databaseServices),
  callerKey("kyc", "KYC_PUBLIC_KEYS", ["clients"]),
  listed({
    name: "fingerprint-key",
    summary: "what hides the fingerprints of keyed requests (FINGERPRINT_KEYS)",
    mine: (setting) => (setting === "FINGERPRINT_KEYS" ? () => true : undefined),
    make: newKey,
    services: ["gateway"],
    last: { afterHours: fingerprintHours },
  }),
  {
    name: "audit-signing-key",
    summary: "what vouches for the audit trail (AUDIT_SIGNING_KEY)",
    steps: [
      {
        does: "A new key takes the place of the old one. What the old one signed stays good: each head names its key.",
        edit(files) {
          const isOurs = (setting: string) => setting === "AUDIT_SIGNING_KEY";
          requireSome("audit-signing-key", files.find(isOurs));
          const made = `${newId()}:${generateKeyPairSync("ed25519").privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")}`;
          files.change((setting, value) => (isOurs(setting) ? made : value));
        },
        restart: ["identity"],
        besides: "Then give its public half, which stands in every new head, to whoever verifies: amana audit verify names it.",
      },
    ],
  },
  {
    name: "kyc-callback-secret",
    summary: "what the verification provider signs its callbacks with (KYC_CALLBACK_SECRETS)",
    steps: [
      {
        does: "A new secret is added: kyc takes callbacks that either signed.",
        edit(files) {
          const made = randomBytes(32).toString("base64url");
          requireSome(
            "kyc-callback-secret",
            files.find((setting) => setting === "KYC_CALLBACK_SECRETS"),
          );
          files.change((setting, value) => (setting === "KYC_CALLBACK_SECRETS" ? `${value},${made}` : value));
        },
        restart: ["kyc"],
        besides: "Then give the provider the new secret, the last of KYC_CALLBACK_SECRETS in the file.",
      },
      {
        does: "The old secret is taken out.",
        edit: (files) =>
          files.change((setting, value) => (setting === "KYC_CALLBACK_SECRETS" ? (value.split(",").at(-1) ?? "") : value)),
        restart: ["kyc"],
        afterHours: 1,
      },
    ],
  },
];

/** Those that others give out, or that need no overlap of settings: what a person does. */
export const told: Readonly<Record<string, { summary: string; steps: readonly string[] }>> = {
  "processor-password": {
    summary: "the card processor's user and password (SATIM_USERNAME, SATIM_PASSWORD)",
    steps: [
      "Have the processor open a second user for the same terminal: with one user there is a time in which one of two passwords is refused.",
      "Set SATIM_USERNAME and SATIM_PASSWORD to it and restart the replicas of payments one by one.",
      "See that payments go through (amana stuck); then have the processor close the old user.",
    ],
  },
  "provider-token": {
    summary: "what kyc calls the verification provider with (KYC_PROVIDER_TOKEN)",
    steps: [
      "Have the provider make a second token, set KYC_PROVIDER_TOKEN to it, and restart the replicas of kyc one by one.",
      "See that applications go on (amana stuck --service kyc); then have the provider revoke the old token.",
    ],
  },
  "bootstrap-admin-key": {
    summary: "the operator's key (BOOTSTRAP_ADMIN_KEY)",
    steps: [
      "Make one: node packages/api-keys/src/make-key.ts. Set BOOTSTRAP_ADMIN_KEY to it and restart the replicas of identity one by one.",
      "The first replica that starts revokes the old key, audited, and whoever used it uses the new one from then on; keys that operators were issued go on (GET /api/v1/admin/operator-keys). A replica that restarts with the old setting brings nothing back.",
    ],
  },
  "database-password": {
    summary: "the password of a service's database role (DATABASE_URL)",
    steps: [
      "A role has one password, so a second role takes turns with the first. As a superuser: create role amana_payments_b login password '…' in role amana_payments; and for it the three settings that deploy/postgres/create-databases.sh gives amana_payments.",
      "Put it into the service's DATABASE_URL and restart the replicas one by one.",
      "When select count(*) from pg_stat_activity where usename = 'amana_payments' is 0: alter role amana_payments nologin password null. Its rights stay, for the second role has them from it.",
      "The next time it is the other way round: alter role amana_payments login password '…', restart, alter role amana_payments_b nologin.",
      "The role that owns the database is used by migrations alone: alter role amana_payments_owner password '…', and the job's DATABASE_URL.",
    ],
  },
  certificates: {
    summary: "the certificates for calls between services (RPC_TLS_*_FILE)",
    steps: [
      "Make new ones in place: deploy/make-certificates.sh FOLDER. Running services take up new files within seconds, without a restart.",
      "A new authority goes first into every ca.pem beside the old one (one file, both certificates), then the certificates it signed, then the old one is taken out of every ca.pem.",
    ],
  },
};
