import { apiCaller } from "@amana/dev-env/demo/api";
import { waitUntil } from "@amana/dev-env/eventually";
import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { startCustomer } from "./customer.ts";
import { type AttackedGateway, flood, gatewayAttacks } from "./gateway-attacks.ts";
import { readGatewayMetric } from "./gateway-metric.ts";
import { checkMemory } from "./memory.ts";
import { attackRpcPorts } from "./rpc-port-attacks.ts";

/** Limits of the gateway. Times are shorter than in production, so that a run reaches them. */
const limits = { REQUEST_TIMEOUT_MS: "5000", RESPONSE_STALL_MS: "3000", CONNECTIONS_PER_NETWORK_MAX: "256" };
/** Maximum number of connections that the well-behaved business keeps open. */
const idleConnectionsMax = 10;

/** Attacks the gateway and RPC ports with clients that send slowly or do not read responses. */
export const slowClientsProgram: Program = {
  summary: "P7: send tiny chunks and malformed JSON, withhold bytes, leave responses unread; requests of other callers succeed",
  async run({ seed, signal, report, log }) {
    const random = createRandom(seed);
    await using test = await startTestSystem("direct", { gateway: limits });
    const { system } = test;
    const { key, receiver, amana } = await aBusiness(system, "Slow");
    const link = await amana.paymentLinks.create({ name: "Cours d'arabe", amount: "2500.00" });
    await receiver[Symbol.asyncDispose]();
    const gateway: AttackedGateway = {
      port: Number(new URL(system.gatewayUrl).port),
      key,
      payPath: new URL(link.url).pathname,
      readMetric: (series) => readGatewayMetric(system, series),
      check: (claim, holds, details) => report.check(`gateway: ${claim}`, holds, details),
    };
    const attacks: [name: string, attack: () => Promise<void>][] = [
      ...Object.entries(gatewayAttacks).map(([name, attack]): (typeof attacks)[number] => [
        `gateway: ${name}`,
        () => attack(gateway),
      ]),
      ["RPC ports", () => attackRpcPorts(system, report)],
    ];
    {
      await using _customer = await startCustomer(system, report);
      do {
        const order = attacks.map((entry) => ({ entry, position: random.next() })).sort((a, b) => a.position - b.position);
        for (const [name, attack] of order.map(({ entry }) => entry)) {
          log(name);
          await attack();
          report.count(`attacks: ${name}`);
          for (const service of Object.values(system.services))
            report.check("processes keep running", service.isRunning(), () => `${service.name} ended during ${name}`);
          // Stops after a violation, because further attacks on a blocked process would fail only
          // after a long wait.
          if (report.violations.length > 0) break;
        }
      } while (!signal.aborted && report.violations.length === 0);
    }
    const readUsage = async () =>
      await Promise.all(
        ["bytes_at_once", "requests_under_way", "connections"].map((name) => gateway.readMetric(`amana_http_${name}`)),
      );
    const areReleased = await waitUntil(async () => {
      const [bytes, requests, connections = 0] = await readUsage();
      return bytes === 0 && requests === 0 && connections <= idleConnectionsMax;
    }, 60_000);
    const usage = await readUsage();
    gateway.check(
      "bytes, requests and connections are released",
      areReleased,
      () => `bytes, requests, connections: ${usage.join(", ")}`,
    );
    checkMemory(system, report, log);

    log("gateway: flood");
    await system.services.gateway.stop();
    await system.services.gateway.start({ RATE_LIMIT_KEYLESS_PER_SECOND: "1" });
    await system.waitUntilReady();
    await flood(gateway);
    const { status } = await apiCaller(system.gatewayUrl, key)("GET", "/api/v1/me");
    gateway.check("another network gets responses after a flood", status === 200, () => `status ${status}`);
  },
};
