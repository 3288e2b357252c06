import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { createRpcClient, DomainError } from "@amana/rpc";
import { aBusinessCaller, adminCaller, eventually, refusal, startTestServer, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { blockedClient, type CreateRequest, type Harness, startHarness, unblockedClient } from "../../test/harness.ts";
import { kyc as kycService } from "../service.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ providerTimeoutMs: 1_000 });
});
afterEach(async () => {
  vi.useRealTimers();
  await harness.sandbox.clearFaults();
});
afterAll(() => harness[Symbol.asyncDispose]());

const metadata = String.raw`{"z":1,"a":{"n":12345678901234567890,"f":1.10,"e":1E+2},"t":"\u00e9 \ud83d\ude00","k":[null,true,"\/"]}`;
const personalFields: CreateRequest = {
  applicantEmail: "canary@applicant.test",
  applicantPhone: "+213555000111",
  profile: '{"first_name":"CanaryFirst","last_name":"CanaryLast","birth_date":"1990-01-31"}',
};
const listCreations = async (id: string) =>
  (await harness.sandbox.application(id)).calls.filter(({ operation }) => operation === "kyc_create");
const readStoredApplications = (businessId: string) =>
  harness.sql("select id from kyc_application where business_id = ?", [businessId]);

describe("createKycApplication", () => {
  test("createKycApplication returns a CREATED application with the link, and emits one event without the link", async () => {
    const caller = aBusinessCaller();
    const application = await harness.create(caller, { clientId: unblockedClient, externalId: "é-1", metadata });
    expect(application).toMatchObject({
      businessId: caller.businessId,
      status: KycStatus.CREATED,
      linkUrl: expect.stringMatching(/^http:/),
      clientId: unblockedClient,
      externalId: "é-1",
      metadata,
      amlHitCount: 0,
      reasonCodes: [],
      verdict: KycVerdict.UNSPECIFIED,
      attemptsUsed: 0,
      attemptsRemaining: 3,
    });
    expect(application.syncedAtMs).toBe(application.createdAtMs);
    const events = await harness.readEvents(application.id);
    expect(await harness.readEventNames(application.id)).toEqual(["CREATED"]);
    expect(events[0]?.application).toMatchObject({ id: application.id, metadata, externalId: "é-1" });
    expect(events[0]?.application).not.toHaveProperty("linkUrl");
  });

  test("createKycApplication uses the client id as the event's key, or the application id if the application has no client", async () => {
    const caller = aBusinessCaller();
    const keysBefore = (await harness.readEventKeys()).length;
    await harness.create(caller, { clientId: unblockedClient });
    await harness.create(caller, { clientId: unblockedClient.toUpperCase() });
    const { id } = await harness.create(caller);
    expect((await harness.readEventKeys()).slice(keysBefore)).toEqual([unblockedClient, unblockedClient, id]);
  });

  test("createKycApplication gives an application a later created_at than the previous application, even if the replica's clock is a minute behind", async () => {
    const caller = aBusinessCaller();
    const firstApplication = await harness.create(caller);
    vi.useFakeTimers({ now: Date.now() - 60_000, toFake: ["Date"] });
    const secondApplication = await harness.create(caller);
    expect(secondApplication.createdAtMs).toBeGreaterThan(firstApplication.createdAtMs);
  });

  test("createKycApplication sends the request's fields to the provider, with the application id as the reference", async () => {
    const { id } = await harness.create(aBusinessCaller(), {
      locale: "AR",
      allowedDocuments: ["passport"],
      maxAttempts: 5,
      requireVideo: false,
      ttlHours: 7,
      redirectUrl: "https://shop.test/done?a=1",
      ...personalFields,
    });
    const [creation] = await listCreations(id);
    expect(creation?.parameters).toEqual({
      reference: id,
      locale: "ar",
      allowed_documents: ["passport"],
      max_attempts: 5,
      require_video: false,
      ttl_hours: 7,
      redirect_url: "https://shop.test/done?a=1",
      applicant_email: "received, not kept",
      applicant_phone: "received, not kept",
      callback_url: harness.callbacks.url,
    });
  });

  test("createKycApplication uses the locale fr, three attempts, a required video, both document types and empty metadata by default", async () => {
    const { id, metadata: defaultMetadata } = await harness.create();
    const [creation] = await listCreations(id);
    expect(creation?.parameters).toMatchObject({ locale: "fr", max_attempts: 3, require_video: true });
    expect(creation?.parameters["allowed_documents"]).toEqual(["id_card", "passport"]);
    expect(defaultMetadata).toBe("{}");
  });

  test("createKycApplication stores no personal data of the applicant, and encrypts the link", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.kyc.createKycApplication(
      { locale: "fr", ...personalFields },
      withIdempotencyKey(caller, "k"),
    );
    const tables = await harness.sql<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    for (const { name } of tables) {
      const [{ content } = { content: "" }] = await harness.sql<{ content: string }>(
        `select coalesce(string_agg(t::text, ' '), '') as content from "${name}" t`,
      );
      for (const personalText of ["canary@", "213555000111", "Canary", "1990-01-31", linkUrl, linkUrl?.split("/").at(-1)]) {
        expect(content).not.toContain(personalText);
        // PostgreSQL shows bytea columns as hex.
        expect(content).not.toContain(Buffer.from(String(personalText)).toString("hex"));
      }
    }
    const [row] = await harness.sql<{ link_ciphertext: string }>("select link_ciphertext from kyc_application where id = ?", [
      id,
    ]);
    expect(harness.context.secrets.decrypt(row?.link_ciphertext ?? "", id)).toBe(linkUrl);
  });
});

describe("createKycApplication, refusals", () => {
  test.each([
    ["an unknown client", "0195a000-0000-7000-8000-00000000000d", "not_found", "client_not_found"],
    ["an invalid client id", "x", "not_found", "client_not_found"],
    ["a blocked client", blockedClient, "conflict", "client_blocked"],
  ])(
    "createKycApplication rejects %s without a call to the provider, and does not store the Idempotency-Key",
    async (_name, clientId, kind, code) => {
      const caller = aBusinessCaller();
      const request = harness.kyc.createKycApplication({ clientId }, withIdempotencyKey(caller, "k"));
      expect(await refusal(request)).toMatchObject({ kind, code, pointer: "/client_id" });
      expect(await readStoredApplications(caller.businessId)).toEqual([]);
      expect(await harness.sql("select 1 from idempotency_key where scope = ?", [caller.businessId])).toEqual([]);
      const createdApplication = await harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k", "another body"));
      expect(await listCreations(createdApplication.id)).toHaveLength(1);
    },
  );

  test("createKycApplication stores the provider's refusal and returns this refusal for a repeated Idempotency-Key", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("kyc_create", "error:422");
    const refuseCreation = (options: Parameters<typeof harness.kyc.createKycApplication>[1]) =>
      refusal(harness.kyc.createKycApplication({}, options));
    expect(await refuseCreation(withIdempotencyKey(caller, "k"))).toMatchObject({
      kind: "upstream_error",
      code: "kyc_provider_error",
    });
    const repeatedOptions = withIdempotencyKey(caller, "k");
    expect(await refuseCreation(repeatedOptions)).toMatchObject({ code: "kyc_provider_error" });
    expect(repeatedOptions.replayed).toBe(true);
    expect(await readStoredApplications(caller.businessId)).toEqual([]);
  });

  test("createKycApplication rejects an operator's key", async () => {
    expect(await refusal(harness.kyc.createKycApplication({}, { caller: adminCaller }))).toMatchObject({
      code: "business_key_required",
    });
  });
});

describe("createKycApplication for a client who is blocked during the call to the provider", () => {
  /**
   * Returns a clients service that returns the standings in their order, and then repeats the last
   * standing.
   */
  const clientsWith = (...standings: ("GOOD" | "BLOCKED" | "unavailable")[]) => {
    let callCount = 0;
    return {
      readStanding: async () => {
        const standing = standings[Math.min(callCount++, standings.length - 1)];
        if (standing === "unavailable") throw new DomainError("unavailable", "service_unavailable", "Unavailable.");
        return standing as "GOOD";
      },
    };
  };
  const createFor = async (clients: ReturnType<typeof clientsWith>, options: ReturnType<typeof withIdempotencyKey>) => {
    await using service = await startTestServer(kycService.rpcServices({ ...harness.context, clients }));
    return await createRpcClient(KycApplicationService, service.channel).createKycApplication(
      { clientId: unblockedClient },
      options,
    );
  };
  const readKeys = async (businessId: string) =>
    await harness.sql<{ application_id: string }>("select id as application_id from idempotency_key where scope = ?", [
      businessId,
    ]);
  /**
   * Runs a creation with a slow provider. Returns the outcome, and the application id that the
   * creation used for the call to the provider.
   */
  const createSlowly = async (caller: ReturnType<typeof aBusinessCaller>, create: () => Promise<unknown>) => {
    await harness.sandbox.fault("kyc_create", "slow:300");
    const creation = create();
    const [row] = await eventually(async () => {
      const rows = await readKeys(caller.businessId);
      expect(rows).toHaveLength(1);
      return rows;
    });
    return { id: row?.application_id ?? "", outcome: await creation };
  };

  test("createKycApplication cancels the application at the provider and stores nothing if the client is blocked during the call to the provider", async () => {
    const caller = aBusinessCaller();
    const { id, outcome } = await createSlowly(caller, () =>
      refusal(createFor(clientsWith("GOOD", "BLOCKED"), withIdempotencyKey(caller, "k"))),
    );
    expect(outcome).toMatchObject({ kind: "conflict", code: "client_blocked", pointer: "/client_id" });
    expect(await readStoredApplications(caller.businessId)).toEqual([]);
    expect(await harness.readEventNames(id)).toEqual([]);
    expect((await harness.sandbox.application(id)).status).toBe("CANCELED");
    expect(await readKeys(caller.businessId)).toEqual([]);
    // When the client is no longer blocked, the same request creates another application with a
    // valid link.
    const createdApplication = await createFor(clientsWith("GOOD"), withIdempotencyKey(caller, "k"));
    expect(createdApplication.id).not.toBe(id);
    expect((await harness.sandbox.application(createdApplication.id)).status).toBe("CREATED");
  });

  test("createKycApplication stores nothing for a client who is blocked during the call to the provider, even if the cancellation at the provider fails", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("kyc_cancel", "http_500");
    const { id, outcome } = await createSlowly(caller, () =>
      refusal(createFor(clientsWith("GOOD", "BLOCKED"), withIdempotencyKey(caller, "k"))),
    );
    expect(outcome).toMatchObject({ code: "client_blocked" });
    expect(await readStoredApplications(caller.businessId)).toEqual([]);
    expect((await harness.sandbox.application(id)).status).toBe("CREATED");
  });

  test("createKycApplication returns the application that a concurrent repetition stored, even if the client is then blocked", async () => {
    const caller = aBusinessCaller();
    const secondCheck = Promise.withResolvers<void>();
    const clientBlocked = Promise.withResolvers<void>();
    const clientsOfFirst = clientsWith("GOOD", "BLOCKED");
    let checkCount = 0;
    const firstRequest = createFor(
      {
        async readStanding() {
          if (++checkCount === 2) {
            secondCheck.resolve();
            await clientBlocked.promise;
          }
          return await clientsOfFirst.readStanding();
        },
      },
      withIdempotencyKey(caller, "k"),
    );
    await secondCheck.promise;
    // Ends the hold of the first request's key, so that the repeated request can run.
    await harness.sql("update idempotency_key set held_until = now() where scope = ?", [caller.businessId]);
    const repeatedResponse = await createFor(clientsWith("GOOD"), withIdempotencyKey(caller, "k"));
    clientBlocked.resolve();
    expect(await firstRequest).toEqual(repeatedResponse);
    expect((await harness.sandbox.application(repeatedResponse.id)).status).toBe("CREATED");
    expect(await harness.readEventNames(repeatedResponse.id)).toEqual(["CREATED"]);
  });

  test("createKycApplication throws service_unavailable if its second read of the client's standing fails, and creates one application when the key is repeated", async () => {
    const caller = aBusinessCaller();
    const { id, outcome } = await createSlowly(caller, () =>
      refusal(createFor(clientsWith("GOOD", "unavailable"), withIdempotencyKey(caller, "k"))),
    );
    expect(outcome).toMatchObject({ kind: "unavailable", code: "service_unavailable" });
    expect(await readStoredApplications(caller.businessId)).toEqual([]);
    expect(await createFor(clientsWith("GOOD"), withIdempotencyKey(caller, "k"))).toMatchObject({
      id,
      clientId: unblockedClient,
    });
  });
});

describe("createKycApplication with an Idempotency-Key", () => {
  test("createKycApplication returns the stored response with the link for a repeated Idempotency-Key", async () => {
    const caller = aBusinessCaller();
    const firstResponse = await harness.kyc.createKycApplication({ metadata }, withIdempotencyKey(caller, "k"));
    const repeatedOptions = withIdempotencyKey(caller, "k");
    expect(await harness.kyc.createKycApplication({ metadata }, repeatedOptions)).toEqual(firstResponse);
    expect(repeatedOptions.replayed).toBe(true);
    expect(await readStoredApplications(caller.businessId)).toHaveLength(1);
    expect(await listCreations(firstResponse.id)).toHaveLength(1);
  });

  test("createKycApplication rejects a different request with the same Idempotency-Key", async () => {
    const caller = aBusinessCaller();
    await harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k"));
    expect(await refusal(harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k", "f2")))).toMatchObject({
      code: "idempotency_key_reused",
    });
  });

  test("createKycApplication creates one application for five concurrent requests with the same Idempotency-Key", async () => {
    const caller = aBusinessCaller();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k"))),
    );
    const createdIds = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value.id] : []));
    expect(new Set(createdIds).size).toBe(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "idempotency_in_progress" });
    }
    expect(await readStoredApplications(caller.businessId)).toHaveLength(1);
  });

  test("createKycApplication creates one application if four callers constantly repeat the Idempotency-Key during the first request", async () => {
    for (let round = 0; round < 5; round++) {
      const caller = aBusinessCaller();
      let isRunning = true;
      await harness.sandbox.fault("kyc_create", "slow:100");
      const firstRequest = harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k")).finally(() => {
        isRunning = false;
      });
      await eventually(async () =>
        expect(await harness.sql("select 1 from idempotency_key where scope = ?", [caller.businessId])).toHaveLength(1),
      );
      const repeatedRequests = Array.from({ length: 4 }, async () => {
        while (isRunning) await harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k")).catch(() => {});
      });
      const { id } = await firstRequest;
      await Promise.all(repeatedRequests);
      expect(await readStoredApplications(caller.businessId)).toEqual([{ id }]);
    }
  });

  test("createKycApplication creates two applications if two businesses use the same Idempotency-Key", async () => {
    const firstApplication = await harness.kyc.createKycApplication({}, withIdempotencyKey(aBusinessCaller(), "k"));
    const secondApplication = await harness.kyc.createKycApplication({}, withIdempotencyKey(aBusinessCaller(), "k"));
    expect(secondApplication.id).not.toBe(firstApplication.id);
  });
});

describe("createKycApplication without a usable response of the provider", () => {
  test.each(["timeout_after", "reset_after", "truncated", "html_200", "http_500", "timeout_before"])(
    "createKycApplication repeats its call to the provider after the fault %s, and creates one application",
    async (mode) => {
      const caller = aBusinessCaller();
      await harness.sandbox.fault("kyc_create", mode);
      const application = await harness.create(caller, personalFields);
      const calls = await listCreations(application.id);
      expect(calls.length).toBe(2);
      expect(await readStoredApplications(caller.businessId)).toEqual([{ id: application.id }]);
    },
  );

  test.each(["reset_after", "truncated", "html_200", "http_503", "timeout_before"])(
    "createKycApplication throws kyc_provider_unavailable during repeated faults %s, and creates one application for the key when the faults end",
    async (mode) => {
      const caller = aBusinessCaller();
      await harness.sandbox.fault("kyc_create", mode, 100);
      expect(await refusal(harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k")))).toMatchObject({
        kind: "unavailable",
        code: "kyc_provider_unavailable",
      });
      expect(await readStoredApplications(caller.businessId)).toEqual([]);
      expect(await harness.kyc.listKycApplications({ limit: 10 }, { caller })).toMatchObject({ total: 0 });
      expect(await refusal(harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k", "f2")))).toMatchObject({
        code: "idempotency_key_reused",
      });

      await harness.sandbox.clearFaults();
      const application = await harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k"));
      const calls = await listCreations(application.id);
      expect(calls.length).toBeGreaterThan(3);
      expect(new Set(calls.map(({ parameters }) => parameters["reference"]))).toEqual(new Set([application.id]));
      expect(await readStoredApplications(caller.businessId)).toEqual([{ id: application.id }]);
    },
  );

  test("createKycApplication returns CREATED for a repeated key after the provider's response was lost, even if the applicant has opened the link", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("kyc_create", "reset_after", 100);
    await refusal(harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k")));
    await harness.sandbox.clearFaults();
    const [{ application_id } = { application_id: "" }] = await harness.sql<{ application_id: string }>(
      "select id as application_id from idempotency_key where scope = ?",
      [caller.businessId],
    );
    await harness.sandbox.open(((await harness.sandbox.application(application_id)) as unknown as { link_url: string }).link_url);
    const application = await harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k"));
    expect(application).toMatchObject({ id: application_id, status: KycStatus.CREATED });
    expect(await harness.readRefreshed(application.id, caller)).toMatchObject({ status: KycStatus.OPENED });
  });
});

test("createKycApplication accepts a request without a client and rejects a request with a client while the clients service is unavailable", async () => {
  const caller = aBusinessCaller();
  const { clients } = harness.context;
  const failStanding = async () => {
    throw new DomainError("unavailable", "service_unavailable", "Unavailable.");
  };
  Object.assign(harness.context, { clients: { readStanding: failStanding } });
  try {
    const call = withIdempotencyKey(caller, "k");
    expect(await refusal(harness.kyc.createKycApplication({ clientId: unblockedClient }, call))).toMatchObject({
      kind: "unavailable",
      code: "service_unavailable",
    });
    expect(await readStoredApplications(caller.businessId)).toEqual([]);
    await harness.create(caller);
  } finally {
    Object.assign(harness.context, { clients });
  }
  expect(await harness.kyc.createKycApplication({ clientId: unblockedClient }, withIdempotencyKey(caller, "k"))).toMatchObject({
    clientId: unblockedClient,
  });
});
