import { until } from "@amana/dev-env/eventually";
import { aBusiness, startTestSystem } from "@amana/e2e/test-system";
import type { Program } from "../program.ts";
import { createRandom } from "../random.ts";
import { type AtGateway, atGateway } from "./at-gateway.ts";
import { attackRpcPorts } from "./at-rpc-port.ts";
import { startCustomer } from "./customer.ts";
import { gatewayMetric } from "./gateway-metric.ts";
import { checkMemory } from "./memory.ts";

/** The time limits are shorter than in production, so that a run reaches them. */
const limits = { REQUEST_TIMEOUT_MS: "5000", RESPONSE_STALL_MS: "3000", CONNECTIONS_PER_NETWORK_MAX: "256" };
/** Connections that the well-behaved business keeps open. */
const idleConnectionsMax = 10;

/** Attacks with clients that send slowly, do not end their requests or do not read responses. */
export const slowClients: Program = {
  attacks: "P7: tiny chunks, withheld bytes, unread responses and malformed JSON stop no other caller",
  async run({ seed, signal, report, say }) {
    const random = createRandom(seed);
    await using test = await startTestSystem("direct", { gateway: limits });
    const { system } = test;
    const { key, receiver } = await aBusiness(system, "Slow");
    await receiver[Symbol.asyncDispose]();
    const gateway: AtGateway = {
      port: Number(new URL(system.gatewayUrl).port),
      key,
      metric: (series) => gatewayMetric(system, series),
      check: (what, holds, details) => report.check(`gateway: ${what}`, holds, details),
    };
    const attacks: [name: string, attack: () => Promise<void>][] = [
      ...Object.entries(atGateway).map(([name, attack]): (typeof attacks)[number] => [`gateway: ${name}`, () => attack(gateway)]),
      ["RPC ports", () => attackRpcPorts(system, report)],
    ];
    {
      await using _customer = await startCustomer(system, report);
      do {
        const order = attacks.map((one) => ({ one, turn: random.next() })).sort((a, b) => a.turn - b.turn);
        for (const [name, attack] of order.map(({ one }) => one)) {
          say(name);
          await attack();
          report.count(`attacks: ${name}`);
          for (const service of Object.values(system.services))
            report.check("processes keep running", service.running(), () => `${service.name} ended during ${name}`);
          // A process that an attack blocks would fail each further attack, after a long wait.
          if (report.violations.length > 0) break;
        }
      } while (!signal.aborted && report.violations.length === 0);
    }
    const left = async () =>
      [await gateway.metric("amana_http_bytes_at_once"), await gateway.metric("amana_http_connections")] as const;
    const isReleased = await until(async () => {
      const [bytes, connections] = await left();
      return bytes === 0 && connections <= idleConnectionsMax;
    }, 60_000);
    const [bytes, connections] = await left();
    gateway.check("bytes and connections are released", isReleased, () => `${bytes} bytes, ${connections} connections`);
    checkMemory(system, report, say);
  },
};
