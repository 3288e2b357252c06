import { createPrivateKey } from "node:crypto";
import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { BusinessService } from "@amana/contracts/identity/v1/business_service_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { PaymentService } from "@amana/contracts/payments/v1/payment_service_pb";
import { EventService } from "@amana/contracts/webhooks/v1/event_service_pb";
import type { System } from "@amana/dev-env/system";
import { type CallerSigner, createCallerSigner, platformCaller } from "@amana/rpc";
import type { DescService } from "@bufbuild/protobuf";
import type { Report } from "../report.ts";
import { headOf, type SlowClient, type Target, withClients } from "./slow-client.ts";

/** An RPC service of each port. */
const served = {
  identity: BusinessService,
  clients: ClientService,
  kyc: KycApplicationService,
  payments: PaymentService,
  webhooks: EventService,
} as const;

/**
 * Much longer than any time limit of an RPC port except the one on idle connections, also on a busy
 * machine.
 */
const waitMsMax = 60_000;
const messageBytesMax = 4 * 1024 * 1024;
const healthPath = "/grpc.health.v1.Health/Check";
const contentTypes = ["application/proto", "application/json", "application/grpc-web+proto"];
const from = "127.0.0.10";

/** Attacks all RPC ports at once, with caller tokens signed with the gateway's key. */
export async function attackRpcPorts(system: System, report: Report): Promise<void> {
  const [id = "", key = ""] = (system.envOf("gateway")["CALLER_PRIVATE_KEY"] ?? "").split(":");
  const signer = createCallerSigner({
    id,
    privateKey: createPrivateKey({ key: Buffer.from(key, "base64"), format: "der", type: "pkcs8" }),
  });
  const attacks = Object.entries(served).map(([name, service]) =>
    attackPort({ name, target: { port: system.rpcPorts[name as keyof typeof served], from }, service, signer, report }),
  );
  await Promise.all(attacks);
}

interface AttackedPort {
  readonly name: string;
  readonly target: Target;
  readonly service: DescService;
  readonly signer: CallerSigner;
  readonly report: Report;
}

async function attackPort({ name, target, service, signer, report }: AttackedPort): Promise<void> {
  const path = `/${service.typeName}/${service.methods[0]?.name}`;
  // A token is valid for ten seconds.
  const headers = (type = "application/proto") => ({ "content-type": type, "amana-caller": signer.sign(platformCaller, name) });
  const check = (claim: string, holds: boolean, clients: readonly SlowClient[]) =>
    report.check(`RPC ports: ${claim}`, holds, () => `${name}: ${statusesOf(clients)}`);
  const areEnded = (clients: readonly SlowClient[]) =>
    clients.every(({ responses, isClosed }) => responses.length > 0 || isClosed);
  const allHave = (clients: readonly SlowClient[], ...statuses: number[]) =>
    clients.every(({ responses: [first] }) => statuses.includes(first?.status ?? 0));

  const oversized = async (type: string) => {
    const { clients } = await withClients(1, target, async (client) => {
      await client.send(headOf(path, headers(type), messageBytesMax + 1));
      // The first bytes of a gRPC-Web message are its length, here of more than 4 MiB.
      await client.send(Buffer.alloc(messageBytesMax + 1, 127));
      await client.outcome(waitMsMax);
    });
    check("a message over 4 MiB gets a response", allHave(clients, 429, 200), clients);
  };

  const withheld = async () => {
    const { clients } = await withClients(12, target, async (client) => {
      await client.send(headOf(path, headers(), messageBytesMax));
      await client.send(Buffer.alloc(messageBytesMax - 1));
      await client.outcome(waitMsMax);
    });
    const refused = clients.some(({ responses: [first] }) => first?.status === 429);
    check("bodies beyond the bound are refused", refused, clients);
    check("bodies that do not end are ended", areEnded(clients), clients);
  };

  const tinyChunks = async (to: string, own: Record<string, string>) => {
    const { clients } = await withClients(2, target, async (client) => {
      await client.send(headOf(to, own));
      await client.sendTinyChunks(150_000);
      await client.outcome(waitMsMax);
    });
    // A 408 would mean that the server accepted all chunks.
    const isEnded = ({ responses: [first], isClosed }: SlowClient) => (first ? first.status !== 408 : isClosed);
    check("bodies of tiny chunks are ended", clients.every(isEnded), clients);
  };

  const withoutToken = async () => {
    const { clients } = await withClients(40, target, async (client) => {
      await client.send(headOf(path, { "content-type": "application/proto" }, messageBytesMax));
      await client.outcome(waitMsMax);
    });
    check("a call without a token is refused before its body arrives", allHave(clients, 401), clients);
  };

  const slowHeaders = async () => {
    const { clients, results } = await withClients(40, target, async (client) => {
      await client.send(`POST ${path} HTTP/1.1\r\nx: `);
      return await client.drip("x", waitMsMax);
    });
    check("connections with slow headers are ended", results.every(Boolean), clients);
  };

  const halfClosed = async () => {
    const { clients, results } = await withClients(40, target, async (client) => {
      await client.send(headOf(path, headers(), 0));
      client.endSending();
      return await client.closed(waitMsMax);
    });
    check("half-closed connections are ended", results.every(Boolean), clients);
  };

  const pipelining = async () => {
    const requests = "GET /nothing HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1_000);
    const { clients, results } = await withClients(
      8,
      target,
      async (client) => {
        await client.send(requests);
        return await client.drip("\r\n", waitMsMax);
      },
      { reads: false },
    );
    check("connections with too many pipelined requests are ended", results.every(Boolean), clients);
  };

  await Promise.all([
    ...contentTypes.map(oversized),
    withheld(),
    tinyChunks(path, headers()),
    tinyChunks(healthPath, { "content-type": "application/json" }),
    withoutToken(),
    slowHeaders(),
    halfClosed(),
    pipelining(),
  ]);
}

const statusesOf = (clients: readonly SlowClient[]) =>
  clients.map(({ responses: [first], isClosed }) => `${first?.status ?? "none"}${isClosed ? "" : " (open)"}`).join(", ");
