import net from "node:net";
import { freePort } from "@amana/dev-env/free-port";
import { createServiceProcess, type ServiceProcess } from "@amana/dev-env/service-process";
import { loopbackUrl, type ServiceName } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { startTestSystem } from "@amana/e2e/test-system";

/** A system with two gateways, and two identity replicas that grant leases of different lengths. */
export interface KeysSystem extends AsyncDisposable {
  readonly system: System;
  readonly identities: readonly ServiceProcess[];
  readonly gateways: readonly Gateway[];
  /**
   * Caller tokens that the second gateway sent to payments. The value is the monotonic time, in
   * milliseconds, at which the token was captured.
   */
  readonly captured: Map<string, number>;
}

export interface Gateway {
  readonly url: string;
  readonly process: ServiceProcess;
}

/** Starts the system. `leaseMs` has the length of the leases of each identity replica. */
export async function startKeysSystem(leaseMs: readonly [number, number]): Promise<KeysSystem> {
  await using stack = new AsyncDisposableStack();
  const { system } = stack.use(await startTestSystem("direct", { identity: { KEY_LEASE_MS: String(leaseMs[0]) } }));
  const startReplica = async (name: ServiceName, portName: string, settings: Record<string, string>) => {
    const port = await freePort();
    const env = { ...system.envOf(name), ...settings, [portName]: String(port) };
    const process = createServiceProcess({ name, env, port, logDir: system.logDir, supervised: false, onCrash: () => {} });
    await process.start();
    stack.defer(() => process.stop());
    return { url: loopbackUrl(port), process };
  };

  const identity = await startReplica("identity", "RPC_PORT", { KEY_LEASE_MS: String(leaseMs[1]) });
  const capturingProxy = stack.use(await startCapturingProxy(system.rpcPorts.payments));
  const bothIdentities = { IDENTITY_URLS: `${loopbackUrl(system.rpcPorts.identity)},${identity.url}` };
  const secondGateway = await startReplica("gateway", "PORT", { ...bothIdentities, PAYMENTS_URLS: capturingProxy.url });
  await system.services.gateway.stop();
  await system.services.gateway.start(bothIdentities);
  await system.waitUntilReady();

  const resources = stack.move();
  return {
    system,
    identities: [system.services.identity, identity.process],
    gateways: [{ url: system.gatewayUrl, process: system.services.gateway }, secondGateway],
    captured: capturingProxy.tokens,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Starts a proxy that forwards all bytes to a port and records the caller tokens. */
async function startCapturingProxy(port: number): Promise<AsyncDisposable & { url: string; tokens: Map<string, number> }> {
  const tokens = new Map<string, number>();
  const openSockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    const upstream = net.connect(port, "127.0.0.1");
    for (const end of [socket, upstream]) {
      openSockets.add(end);
      end.on("error", () => {});
      end.on("close", () => {
        openSockets.delete(end);
        socket.destroy();
        upstream.destroy();
      });
    }
    socket.on("data", (chunk) => {
      const token = /amana-caller: (\S+)/i.exec(chunk.toString("latin1"))?.[1];
      if (token && !tokens.has(token)) tokens.set(token, performance.now());
    });
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: loopbackUrl((server.address() as net.AddressInfo).port),
    tokens,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of openSockets) socket.destroy();
    },
  };
}
