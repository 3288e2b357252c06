import { ClientKycStatus } from "@amana/contracts/clients/v1/client_pb";
import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@amana/contracts/grpc/health/v1/health_pb";
import { createRpcClient, platformCaller } from "@amana/rpc";
import { createLogger } from "@amana/runtime";
import { startTestService } from "@amana/service-host/testing";
import { aBusinessCaller, refusal } from "@amana/testing";
import { expect, test } from "vitest";
import { aKycEvent } from "../test/a-kyc-event.ts";
import { aPerson } from "../test/harness.ts";
import { clients as clientsService } from "./service.ts";

test("the clients service with default settings serves RPCs, consumes events, and logs no personal data", async () => {
  const lines: string[] = [];
  const logger = createLogger("test", "trace", { write: (line: string) => lines.push(line) });
  const service = await startTestService(clientsService, { logger, runsBackgroundWork: true });
  expect(service.context.autoApprove).toBe(false);
  {
    const clients = createRpcClient(ClientService, service.channel);
    const health = await createRpcClient(Health, service.channel).check({}, { caller: platformCaller });
    expect(health.status).toBe(Status.SERVING);

    const caller = aBusinessCaller();
    const person = aPerson({ kycNote: "CanaryNote", mobilePhoneNumber: "+213550000000" });
    const { id } = await clients.createPerson(person, { caller });
    expect(await refusal(clients.createPerson(person, { caller }))).toMatchObject({ code: "email_taken" });
    await clients.updatePerson({ id, city: "CanaryCity" }, { caller });
    await clients.listClients({ limit: 1, search: "Benali" }, { caller });

    // A database constraint rejects the row. The RPC then fails with an internal error, which the
    // service logs.
    expect(await refusal(clients.createPerson(aPerson({ gender: "CanaryGender" }), { caller }))).not.toHaveProperty("kind");

    const messages = [
      aKycEvent({ ...caller, clientId: id }),
      aKycEvent({ businessId: caller.businessId, clientId: caller.keyId }),
    ];
    await service.publish("kyc.v1", ...messages);
    expect((await clients.getClient({ id }, { caller })).kycStatus).toBe(ClientKycStatus.CREATED);

    const log = lines.join("\n");
    expect(log).toContain("client_gender_check");
    expect(log).toContain("message failed, retry scheduled");
    const { email = "" } = person;
    for (const personalText of ["Amina", "Benali", "Didouche", "1990-05-17", "Canary", "+21355", email])
      expect(log).not.toContain(personalText);
  }
  await service[Symbol.asyncDispose]();
});
