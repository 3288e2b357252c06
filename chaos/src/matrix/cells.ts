import type { KycProvider } from "@amana/dev-env/services";
import type { Random } from "../random.ts";
import { type ReplicatedService, replicatedServices } from "../rolling/replicas.ts";
import type { Fault, VerificationEnd } from "./schedule.ts";

type Vendor = Exclude<KycProvider, "port">;
type WithoutTime<F> = F extends unknown ? Omit<F, "atMs"> : never;
/** Work that a schedule must contain so that the fault can affect a process. */
export type Need = "refund" | "key" | "verification" | "replay" | VerificationEnd;

/**
 * A kind of fault at a place. A cell is called met when its fault has affected a process. In a run
 * of three rounds or more, every cell must be met.
 */
export interface Cell {
  readonly name: string;
  readonly needs?: Need;
  /** A schedule has at most one fault of a group, because two such faults could hide each other. */
  readonly group: string;
  draw(random: Random): WithoutTime<Fault>;
}

/** Longer than 6 s, which is the lease of a row and the session timeout of consumers and relays. */
const longMs = 7_000;
const drawDownMs = (random: Random) => random.integer(0, 20) * 50;
const drawFrozenMs = (random: Random) => (random.chance(0.2) ? longMs : random.integer(4, 30) * 50);

type FaultPoint = readonly [point: string, service: ReplicatedService, needs: Need];

/** All fault points (calls of `faultPoint`), each with the work during which it is reached. */
const faultPoints: readonly FaultPoint[] = [
  ["payment.begun", "payments", "refund"],
  ["payment.registered", "payments", "refund"],
  ["payment.confirmed", "payments", "refund"],
  ["refund.requested", "payments", "refund"],
  ["refund.sending", "payments", "refund"],
  ["refund.answering", "payments", "refund"],
  ["refund.answered", "payments", "refund"],
  ["refund.committed", "payments", "refund"],
  ["application.linked", "kyc", "verification"],
  ["application.committed", "kyc", "verification"],
  ["callback.answered", "kyc", "verification"],
  ["callback.committed", "kyc", "verification"],
  ["sync.answered", "kyc", "verification"],
  ["review.answered", "kyc", "reviewed"],
  ["review.committed", "kyc", "reviewed"],
  ["cancel.answered", "kyc", "canceled"],
  ["cancel.committed", "kyc", "canceled"],
  ["relay.published", "payments", "refund"],
  ["relay.published", "kyc", "verification"],
  ["consumer.committed", "webhooks", "refund"],
  ["consumer.committed", "clients", "verification"],
  ["consumer.committed", "identity", "reviewed"],
  ["delivery.posted", "webhooks", "refund"],
  ["replay.stepped", "webhooks", "replay"],
  ["replay.committed", "webhooks", "replay"],
];

/** Fault points after each call to a vendor, with the work during which kyc makes this call. */
const vendorPoints: Readonly<Record<Vendor, readonly FaultPoint[]>> = {
  didit: [
    ["kyc_create.answered", "kyc", "verification"],
    ["kyc_get.answered", "kyc", "verification"],
    ["kyc_reviews.answered", "kyc", "vendor_reviewed"],
    ["kyc_review.answered", "kyc", "reviewed"],
    ["kyc_cancel.answered", "kyc", "canceled"],
  ],
  sumsub: [
    ["kyc_create.answered", "kyc", "verification"],
    ["kyc_link.answered", "kyc", "verification"],
    ["kyc_get.answered", "kyc", "verification"],
    ["kyc_steps.answered", "kyc", "verification"],
    ["kyc_aml.answered", "kyc", "approved"],
    ["kyc_review.answered", "kyc", "reviewed"],
    ["kyc_cancel.answered", "kyc", "canceled"],
  ],
};

const needsOf: Partial<Record<ReplicatedService, Need>> = {
  payments: "refund",
  webhooks: "refund",
  kyc: "verification",
  clients: "verification",
  identity: "key",
  gateway: "key",
};

const failureModes = ["timeout_before", "timeout_after", "reset_after", "truncated", "http_500", "http_503", "html_200"] as const;
const drawSlowMs = (random: Random) => random.integer(2, 30) * 50;
/** Draws the delay of a late effect. The effect may come before or after the refund is resent. */
const drawLateMs = (random: Random) => random.integer(10, 80) * 50;

type Modes = Readonly<Record<string, readonly [needs: Need, modes: readonly string[]]>>;

/** Fault modes of the sandbox by operation. A random time replaces "<ms>". */
const modes: Modes = {
  register: ["refund", [...failureModes, "slow:<ms>", "error:7"]],
  confirm: ["refund", [...failureModes, "slow:<ms>", "error:7"]],
  status: ["refund", [...failureModes, "slow:<ms>", "error:7", "stale:<ms>"]],
  refund: ["refund", [...failureModes, "slow:<ms>", "error:5", "error:7", "late:<ms>", "error_late:<ms>"]],
  kyc_create: ["verification", [...failureModes, "slow:<ms>", "error:500"]],
  kyc_get: ["verification", [...failureModes, "slow:<ms>", "error:500"]],
  kyc_cancel: ["canceled", [...failureModes, "slow:<ms>", "error:500"]],
  kyc_callback: ["verification", [...failureModes, "slow:<ms>", "duplicate", "reorder", "drop", "bad_signature"]],
};

const kycModes = [...failureModes, "slow:<ms>", "error:500"];
/** Fault modes of operations that schedules with the provider `port` do not use. */
const vendorModes: Readonly<Record<Vendor, Modes>> = {
  didit: { kyc_review: ["reviewed", kycModes] },
  sumsub: { kyc_review: ["reviewed", kycModes], kyc_link: ["verification", kycModes], kyc_aml: ["approved", kycModes] },
};

const proxyFaultKinds = ["deliver_late", "drop", "lose_answer", "hold_answer"] as const;

const createCell = (
  name: string,
  needs: Need | undefined,
  group: string,
  draw: (random: Random) => WithoutTime<Fault>,
): Cell => ({
  name,
  ...(needs && { needs }),
  group,
  draw,
});

interface CellKinds {
  readonly services: readonly ReplicatedService[];
  readonly points: readonly FaultPoint[];
  readonly modes: Modes;
  readonly proxyFaults: readonly (typeof proxyFaultKinds)[number][];
  needsOf(service: ReplicatedService): Need | undefined;
}

const createCells = ({ services, points, modes, proxyFaults, needsOf }: CellKinds): readonly Cell[] => [
  ...services.flatMap((service) =>
    (["kill", "freeze"] as const).map((kind) =>
      createCell(`${kind}: ${service}`, needsOf(service), `${kind} ${service}`, (random) => ({
        ...{ kind, service, replica: random.integer(0, 1) },
        forMs: kind === "kill" ? drawDownMs(random) : drawFrozenMs(random),
      })),
    ),
  ),
  ...points.flatMap(([point, service, needs]) =>
    (["SIGKILL", "SIGSTOP"] as const).map((signal) =>
      createCell(nameOfPoint(signal, point, service), needs, `point ${service}`, (random) => ({
        ...{ kind: "point", point, service, signal },
        forMs: signal === "SIGKILL" ? drawDownMs(random) : drawFrozenMs(random),
      })),
    ),
  ),
  ...services
    .filter((service) => service !== "gateway")
    .map((service) =>
      createCell(`connections cut: ${service}`, needsOf(service), `cut ${service}`, () => ({ kind: "cut", service })),
    ),
  createCell("PostgreSQL stopped", undefined, "postgres", (random) => ({ kind: "postgres", forMs: 2 * drawDownMs(random) })),
  createCell("Kafka killed", undefined, "kafka", (random) => ({ kind: "kafka", forMs: 2 * drawDownMs(random) })),
  ...Object.entries(modes).flatMap(([operation, [needs, operationModes]]) =>
    operationModes.map((mode) =>
      createCell(`${operation}: ${mode}`, needs, operation, (random) => ({
        ...{
          kind: "answers",
          operation,
          mode: mode.replace("<ms>", String((mode.includes("late") ? drawLateMs : drawSlowMs)(random))),
        },
        times: random.integer(1, 2),
      })),
    ),
  ),
  ...proxyFaults.map((kind) =>
    createCell(`proxy: ${kind}`, "refund", "proxy", (random) => ({
      kind: "way",
      trouble: { kind, ms: (kind === "deliver_late" ? drawLateMs : drawSlowMs)(random) },
    })),
  ),
];

const portCells = createCells({
  services: replicatedServices,
  points: faultPoints,
  modes,
  proxyFaults: proxyFaultKinds,
  needsOf: (service) => needsOf[service],
});

/**
 * Returns only cells that verifications can meet, because the vendor does not affect other cells.
 */
function createVendorCells(vendor: Vendor): readonly Cell[] {
  const toVerification = (needs: Need): Need => (needs === "refund" || needs === "key" ? "verification" : needs);
  const points = faultPoints.filter(([, service, needs]) => service !== "payments" && needs !== "replay");
  return createCells({
    services: replicatedServices.filter((service) => service !== "payments"),
    points: [
      ...points.map(([point, service, needs]): FaultPoint => [point, service, toVerification(needs)]),
      ...vendorPoints[vendor],
    ],
    modes: {
      ...Object.fromEntries(Object.entries(modes).filter(([, [needs]]) => needs !== "refund")),
      ...vendorModes[vendor],
    },
    proxyFaults: [],
    needsOf: () => "verification",
  });
}

const cellsByProvider: Readonly<Record<KycProvider, readonly Cell[]>> = {
  port: portCells,
  didit: createVendorCells("didit"),
  sumsub: createVendorCells("sumsub"),
};

/** Returns the cells of a system with this verification provider. */
export const cellsOf = (provider: KycProvider): readonly Cell[] => cellsByProvider[provider];

function nameOfPoint(signal: "SIGKILL" | "SIGSTOP", point: string, service: ReplicatedService): string {
  return `${signal === "SIGKILL" ? "kill" : "freeze"} at point: ${point} of ${service}`;
}

/** Returns the name of the cell of a fault. */
export function cellOf(fault: Fault): string {
  switch (fault.kind) {
    case "kill":
    case "freeze":
      return `${fault.kind}: ${fault.service}`;
    case "point":
      return nameOfPoint(fault.signal, fault.point, fault.service);
    case "cut":
      return `connections cut: ${fault.service}`;
    case "postgres":
      return "PostgreSQL stopped";
    case "kafka":
      return "Kafka killed";
    case "answers":
      return `${fault.operation}: ${fault.mode.replace(/^(slow|late|error_late|stale):\d+$/, "$1:<ms>")}`;
    case "way":
      return `proxy: ${fault.trouble.kind}`;
  }
}
