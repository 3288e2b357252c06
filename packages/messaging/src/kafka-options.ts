import type { EnvReader } from "@amana/runtime";
import type { KafkaConfig } from "kafkajs";

export interface KafkaOptions {
  readonly brokers: readonly string[];
  readonly ssl?: NonNullable<KafkaConfig["ssl"]>;
  readonly sasl?: { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string };
  /**
   * True if each topic must have three replicas, of which two are in sync, so that the loss of a
   * disk loses no event.
   */
  readonly requiresCopies: boolean;
}

const saslMechanisms = ["scram-sha-512", "scram-sha-256", "plain"] as const;
type SaslMechanism = (typeof saslMechanisms)[number];

const safeguards = ["tls", "login", "copies"] as const;
type Safeguard = (typeof safeguards)[number];

/**
 * Reads KAFKA_BROKERS, KAFKA_TLS_*, KAFKA_SASL_* and KAFKA_WITHOUT. In production, TLS, a login and
 * three replicas of each topic are required. An operator can waive these requirements by listing
 * them in KAFKA_WITHOUT.
 */
export function readKafkaOptions(env: EnvReader): KafkaOptions {
  const brokers = env.list("KAFKA_BROKERS");
  if (brokers.length === 0) env.problem("KAFKA_BROKERS is not set; EVENTS=kafka needs host:port of the brokers");
  const waived = readWaivedSafeguards(env);
  const ssl = readTls(env);
  const sasl = readSasl(env);
  const isRequired = (safeguard: Safeguard) => env.isProduction && !waived.includes(safeguard);
  const optOut = (safeguard: Safeguard) => `or accept the risk with KAFKA_WITHOUT=${safeguard}`;
  if (!ssl && isRequired("tls")) {
    env.problem(
      `KAFKA_TLS must be true in production, because without TLS, third parties could read the events; ${optOut("tls")}`,
    );
  }
  if (!sasl && !ssl?.cert && isRequired("login")) {
    env.problem(
      `KAFKA_SASL_MECHANISM or KAFKA_TLS_CERTIFICATE must be set in production, because without a login every program could read and write the topics; ${optOut("login")}`,
    );
  }
  return { brokers, ...(ssl && { ssl }), ...(sasl && { sasl }), requiresCopies: isRequired("copies") };
}

function readWaivedSafeguards(env: EnvReader): readonly string[] {
  const waived = env.list("KAFKA_WITHOUT");
  for (const name of waived) {
    if (!(safeguards as readonly string[]).includes(name)) {
      env.problem(`KAFKA_WITHOUT may list ${safeguards.join(", ")}, not "${name}"`);
    }
  }
  return waived;
}

function readTls(env: EnvReader): { ca?: string[]; cert?: string; key?: string } | undefined {
  const [ca, cert, key] = [env.optional("KAFKA_TLS_CA"), env.optional("KAFKA_TLS_CERTIFICATE"), env.optional("KAFKA_TLS_KEY")];
  const isOn = env.boolean("KAFKA_TLS", false);
  if (!isOn && (ca ?? cert ?? key) !== undefined)
    env.problem("KAFKA_TLS_CA, KAFKA_TLS_CERTIFICATE and KAFKA_TLS_KEY need KAFKA_TLS=true");
  if ((cert === undefined) !== (key === undefined)) env.problem("KAFKA_TLS_CERTIFICATE and KAFKA_TLS_KEY must be set together");
  if (!isOn) return undefined;
  return { ...(ca && { ca: [ca] }), ...(cert && { cert }), ...(key && { key }) };
}

function readSasl(env: EnvReader): KafkaOptions["sasl"] {
  if (env.optional("KAFKA_SASL_MECHANISM") === undefined) return undefined;
  const mechanism = env.choice("KAFKA_SASL_MECHANISM", saslMechanisms);
  return { mechanism, username: env.string("KAFKA_SASL_USERNAME"), password: env.string("KAFKA_SASL_PASSWORD") };
}
