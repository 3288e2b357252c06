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
import { formatHead, type SlowClient, type Target, withClients } from "./slow-client.ts";

/** For each service, the RPC service that the attacks call on its port. */
const rpcServices = {
  identity: BusinessService,
  clients: ClientService,
  kyc: KycApplicationService,
  payments: PaymentService,
  webhooks: EventService,
} as const;

/**
 * Maximum wait. Even on a busy machine, it is much longer than any time limit of an RPC port,
 * except the limit for idle connections.
 */
const waitMsMax = 60_000;
const messageBytesMax = 4 * 1024 * 1024;
/**
 * Body that is one byte too long. The first bytes of a gRPC-Web message state its length. The first
 * bytes of this body state more than 4 MiB. All connections send this body or `unfinishedBody`,
 * because separate bodies would need 300 MB.
 */
const oversizedBody = Buffer.alloc(messageBytesMax + 1, 127);
const unfinishedBody = Buffer.alloc(messageBytesMax - 1);
/**
 * Maximum number of attempts of an attack. On a busy machine, a server can be without CPU time for
 * some seconds. It then closes connections although their requests have arrived, because it has not
 * read them.
 */
const attemptsMax = 3;
const healthPath = "/grpc.health.v1.Health/Check";
const contentTypes = ["application/proto", "application/json", "application/grpc-web+proto"];
const localAddress = "127.0.0.10";

/** Attacks all RPC ports at once, with caller tokens signed with the gateway's key. */
export async function attackRpcPorts(system: System, report: Report): Promise<void> {
  const [id = "", key = ""] = (system.envOf("gateway")["CALLER_PRIVATE_KEY"] ?? "").split(":");
  const signer = createCallerSigner({
    id,
    privateKey: createPrivateKey({ key: Buffer.from(key, "base64"), format: "der", type: "pkcs8" }),
  });
  const attacks = Object.entries(rpcServices).map(([name, service]) =>
    attackPort({
      name,
      target: { port: system.rpcPorts[name as keyof typeof rpcServices], localAddress },
      service,
      signer,
      report,
    }),
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
  // Signs a new token for each request, because a token is valid for only ten seconds.
  const createHeaders = (type = "application/proto") => ({
    "content-type": type,
    "amana-caller": signer.sign(platformCaller, name),
  });
  const check = (claim: string, holds: boolean, clients: readonly SlowClient[]) =>
    report.check(`RPC ports: ${claim}`, holds, () => `${name}: ${statusesOf(clients)}`);
  const areEnded = (clients: readonly SlowClient[]) =>
    clients.every(({ responses, isClosed }) => responses.length > 0 || isClosed);
  /**
   * Runs an attack until the claim holds, at most `attemptsMax` times. Reports the last attempt.
   */
  const checkRepeatedly = async (
    claim: string,
    holds: (clients: readonly SlowClient[]) => boolean,
    attack: () => Promise<{ clients: SlowClient[] }>,
  ): Promise<SlowClient[]> => {
    for (let attempt = 1; ; attempt++) {
      const { clients } = await attack();
      if (!holds(clients) && attempt < attemptsMax) continue;
      check(claim, holds(clients), clients);
      return clients;
    }
  };
  const allHaveStatus = (clients: readonly SlowClient[], ...statuses: number[]) =>
    clients.every(({ responses: [first] }) => statuses.includes(first?.status ?? 0));

  const sendOversized = async (type: string) => {
    const attack = () =>
      withClients(1, target, async (client) => {
        await client.send(formatHead(path, createHeaders(type), messageBytesMax + 1));
        await client.send(oversizedBody);
        await client.waitForOutcome(waitMsMax);
      });
    await checkRepeatedly("a message over 4 MiB gets a response", (clients) => allHaveStatus(clients, 429, 200), attack);
  };

  const withholdBytes = async () => {
    const attack = () =>
      withClients(12, target, async (client) => {
        await client.send(formatHead(path, createHeaders(), messageBytesMax));
        await client.send(unfinishedBody);
        await client.waitForOutcome(waitMsMax);
      });
    const isRejected = (attackers: readonly SlowClient[]) => attackers.some(({ responses: [first] }) => first?.status === 429);
    const clients = await checkRepeatedly("bodies beyond the byte limit are rejected", isRejected, attack);
    check("requests with unfinished bodies are ended", areEnded(clients), clients);
  };

  const sendTinyChunks = async (chunkedPath: string, chunkedHeaders: Record<string, string>) => {
    const { clients } = await withClients(2, target, async (client) => {
      await client.send(formatHead(chunkedPath, chunkedHeaders));
      await client.sendTinyChunks(150_000);
      await client.waitForOutcome(waitMsMax);
    });
    // Status 408 would mean that the server accepted all chunks and waited for the end of the body.
    const isEnded = ({ responses: [first], isClosed }: SlowClient) => (first ? first.status !== 408 : isClosed);
    check("bodies of tiny chunks are ended", clients.every(isEnded), clients);
  };

  const sendWithoutToken = async () => {
    const attack = () =>
      withClients(40, target, async (client) => {
        await client.send(formatHead(path, { "content-type": "application/proto" }, messageBytesMax));
        await client.waitForOutcome(waitMsMax);
      });
    const claim = "a call without a token is rejected before its body is received";
    await checkRepeatedly(claim, (clients) => allHaveStatus(clients, 401), attack);
  };

  const sendSlowHeaders = async () => {
    const { clients, results } = await withClients(40, target, async (client) => {
      await client.send(`POST ${path} HTTP/1.1\r\nx: `);
      return await client.sendUntilClosed("x", waitMsMax);
    });
    check("connections with slow headers are ended", results.every(Boolean), clients);
  };

  const halfClose = async () => {
    const { clients, results } = await withClients(40, target, async (client) => {
      await client.send(formatHead(path, createHeaders(), 0));
      client.endSending();
      return await client.waitForClose(waitMsMax);
    });
    check("half-closed connections are ended", results.every(Boolean), clients);
  };

  const pipelineRequests = async () => {
    const requests = "GET /nothing HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1_000);
    const { clients, results } = await withClients(
      8,
      target,
      async (client) => {
        await client.send(requests);
        return await client.sendUntilClosed("\r\n", waitMsMax);
      },
      { reads: false },
    );
    check("connections with too many pipelined requests are ended", results.every(Boolean), clients);
  };

  await Promise.all([
    ...contentTypes.map(sendOversized),
    withholdBytes(),
    sendTinyChunks(path, createHeaders()),
    sendTinyChunks(healthPath, { "content-type": "application/json" }),
    sendWithoutToken(),
    sendSlowHeaders(),
    halfClose(),
    pipelineRequests(),
  ]);
}

const statusesOf = (clients: readonly SlowClient[]) =>
  clients.map(({ responses: [first], isClosed }) => `${first?.status ?? "none"}${isClosed ? "" : " (open)"}`).join(", ");
