import net from "node:net";
import { freePort } from "@amana/dev-env/free-port";
import { type ServiceProcess, serviceProcess } from "@amana/dev-env/service-process";
import { loopbackUrl, type ServiceName } from "@amana/dev-env/services";
import type { System } from "@amana/dev-env/system";
import { startTestSystem } from "@amana/e2e/test-system";

/**
 * Two replicas of identity that grant leases of different lengths, and two gateways that ask both
 * of them.
 */
export interface Stage extends AsyncDisposable {
  readonly system: System;
  readonly identities: readonly ServiceProcess[];
  readonly gateways: readonly Gateway[];
  /**
   * What the second gateway sent to payments, as somebody on the wire reads it: tokens, each with
   * when it was seen.
   */
  readonly captured: Map<string, number>;
}

export interface Gateway {
  readonly url: string;
  readonly process: ServiceProcess;
}

/** `leaseMs`: one for each replica of identity. */
export async function startStage(leaseMs: readonly [number, number]): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const { system } = stack.use(await startTestSystem("direct", { identity: { KEY_LEASE_MS: String(leaseMs[0]) } }));
  const replica = async (name: ServiceName, portName: string, settings: Record<string, string>) => {
    const port = await freePort();
    const env = { ...system.envOf(name), ...settings, [portName]: String(port) };
    const process = serviceProcess({ name, env, port, logDir: system.logDir, supervised: false, onCrash: () => {} });
    await process.start();
    stack.defer(() => process.stop());
    return { url: loopbackUrl(port), process };
  };

  const identity = await replica("identity", "RPC_PORT", { KEY_LEASE_MS: String(leaseMs[1]) });
  const wire = stack.use(await listenIn(system.rpcPorts.payments));
  const asksBoth = { IDENTITY_URLS: `${loopbackUrl(system.rpcPorts.identity)},${identity.url}` };
  const second = await replica("gateway", "PORT", { ...asksBoth, PAYMENTS_URLS: wire.url });
  await system.services.gateway.stop();
  await system.services.gateway.start(asksBoth);
  await system.ready();

  const running = stack.move();
  return {
    system,
    identities: [system.services.identity, identity.process],
    gateways: [{ url: system.gatewayUrl, process: system.services.gateway }, second],
    captured: wire.tokens,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Passes everything on to a port, and keeps the tokens it sees. */
async function listenIn(port: number): Promise<AsyncDisposable & { url: string; tokens: Map<string, number> }> {
  const tokens = new Map<string, number>();
  const open = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    const onward = net.connect(port, "127.0.0.1");
    for (const one of [socket, onward]) {
      open.add(one);
      one.on("error", () => {});
      one.on("close", () => {
        open.delete(one);
        socket.destroy();
        onward.destroy();
      });
    }
    socket.on("data", (chunk) => {
      const token = /amana-caller: (\S+)/i.exec(chunk.toString("latin1"))?.[1];
      if (token && !tokens.has(token)) tokens.set(token, performance.now());
    });
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: loopbackUrl((server.address() as net.AddressInfo).port),
    tokens,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
