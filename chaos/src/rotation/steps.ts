import { generateKeyPairSync, randomBytes } from "node:crypto";
import { servicesWithDatabase } from "@amana/dev-env/services";
import type { ReplicatedService, Settings } from "../rolling/replicas.ts";

/** Settings that an operator changes during a rotation, and commands that an operator runs. */
export interface Deployment {
  readonly settings: Settings;
  /** Runs `amana secrets reencrypt`. */
  reencrypt(): Promise<void>;
  /** Gives the verification provider the secret with which it signs callbacks. */
  setProviderSecret(secret: string): Promise<void>;
}

/** A numbered step of docs/secrets.md. */
export interface Step {
  readonly action: string;
  run(deployment: Deployment): void | Promise<void>;
  /** Services whose replicas restart after the step, one replica after the other. */
  readonly restart: readonly ReplicatedService[];
  /** If true, the load stops during the step, because the sandbox restarts. */
  readonly withoutLoad?: true;
}

interface ListedSecret {
  readonly setting: string;
  readonly services: readonly ReplicatedService[];
  readonly newEntry: string;
  /**
   * Returns true if an entry belongs to this secret. Must be set if the setting lists several
   * secrets.
   */
  isEntry?(entry: string): boolean;
}

/**
 * Returns the steps for a setting with a list of keys. A service creates values with the first key
 * and accepts values of all keys.
 */
function rotateListEntry({ setting, services, newEntry, isEntry = () => true }: ListedSecret): [Step, Step, Step] {
  const edit =
    (change: (entries: readonly string[]) => readonly string[]): Step["run"] =>
    ({ settings }) => {
      for (const name of services) {
        const entries = settings[name][setting]?.split(",") ?? [];
        const otherEntries = entries.filter((entry) => !isEntry(entry));
        settings[name][setting] = [...change(entries.filter(isEntry)), ...otherEntries].join(",");
      }
    };
  return [
    { action: "add the new key after the old one", run: edit((entries) => [...entries, newEntry]), restart: services },
    { action: "move the new key to the front", run: edit((entries) => entries.toReversed()), restart: services },
    { action: "remove the old key", run: edit((entries) => entries.slice(0, 1)), restart: services },
  ];
}

const createId = () => `k-${randomBytes(4).toString("hex")}`;
const createKey = () => `${createId()}:${randomBytes(32).toString("base64")}`;

function rotateEncryptionKey(): Step[] {
  const [add, move, remove] = rotateListEntry({
    setting: "SECRET_ENCRYPTION_KEYS",
    services: ["webhooks", "kyc"],
    newEntry: createKey(),
  });
  const reencrypt: Step = { action: "re-encrypt stored secrets", run: (deployment) => deployment.reencrypt(), restart: [] };
  return [add, move, reencrypt, remove];
}

const rotateEventKey = (topic: string, services: readonly ReplicatedService[]): Step[] =>
  rotateListEntry({
    setting: "EVENT_MAC_KEYS",
    services,
    newEntry: `${topic}=${createKey()}`,
    isEntry: (entry) => entry.startsWith(`${topic}=`),
  });

/** Returns the steps for a key pair. `signer` has the private key, `verifiers` the public key. */
function rotateCallerKey(signer: ReplicatedService, publicSetting: string, verifiers: readonly ReplicatedService[]): Step[] {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const id = createId();
  const privateEntry = `${id}:${privateKey.export({ format: "der", type: "pkcs8" }).toString("base64")}`;
  const publicEntry = `${id}:${publicKey.export({ format: "der", type: "spki" }).toString("base64")}`;
  const [add, , remove] = rotateListEntry({ setting: publicSetting, services: verifiers, newEntry: publicEntry });
  return [
    add,
    {
      action: "replace the private key",
      run({ settings }) {
        settings[signer]["CALLER_PRIVATE_KEY"] = privateEntry;
      },
      restart: [signer],
    },
    {
      ...remove,
      run({ settings }) {
        for (const name of verifiers) settings[name][publicSetting] = publicEntry;
      },
    },
  ];
}

function rotateCallbackSecret(): Step[] {
  const secret = randomBytes(32).toString("base64url");
  const [add] = rotateListEntry({ setting: "KYC_CALLBACK_SECRETS", services: ["kyc"], newEntry: secret });
  return [
    add,
    {
      action: "give the provider the new secret",
      run: (deployment) => deployment.setProviderSecret(secret),
      restart: [],
      withoutLoad: true,
    },
    {
      action: "remove the old secret",
      run({ settings }) {
        settings.kyc["KYC_CALLBACK_SECRETS"] = secret;
      },
      restart: ["kyc"],
    },
  ];
}

/**
 * The rotations of docs/secrets.md that need no downtime. Each function returns the steps for a new
 * random secret.
 */
export const rotations = {
  "kyc-key": () => rotateCallerKey("kyc", "KYC_PUBLIC_KEYS", ["clients"]),
  "gateway-key": () => rotateCallerKey("gateway", "GATEWAY_PUBLIC_KEYS", servicesWithDatabase),
  "fingerprint-key": () =>
    rotateListEntry({ setting: "FINGERPRINT_KEYS", services: ["gateway"], newEntry: randomBytes(32).toString("base64") }),
  "checkout-key": () =>
    rotateListEntry({ setting: "CHECKOUT_KEYS", services: ["gateway"], newEntry: randomBytes(32).toString("base64") }),
  "kyc-callback-secret": rotateCallbackSecret,
  "encryption-key": rotateEncryptionKey,
  "event-key:payments.v1": () => rotateEventKey("payments.v1", ["payments", "webhooks"]),
  "event-key:kyc.v1": () => rotateEventKey("kyc.v1", ["kyc", "webhooks", "clients"]),
  "event-key:audit.v1": () => rotateEventKey("audit.v1", servicesWithDatabase),
} as const satisfies Record<string, () => Step[]>;

export type RotatedSecret = keyof typeof rotations;
