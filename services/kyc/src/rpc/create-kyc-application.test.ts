import { KycStatus, KycVerdict } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { createRpcClient, DomainError } from "@amana/rpc";
import { aBusinessCaller, adminCaller, eventually, refusal, startTestServer, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { blockedClient, type CreateRequest, goodClient, type Harness, startHarness } from "../../test/harness.ts";
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
const personal: CreateRequest = {
  applicantEmail: "canary@applicant.test",
  applicantPhone: "+213555000111",
  profile: '{"first_name":"CanaryFirst","last_name":"CanaryLast","birth_date":"1990-01-31"}',
};
const creations = async (id: string) =>
  (await harness.sandbox.application(id)).calls.filter(({ operation }) => operation === "kyc_create");
const storedApplications = (businessId: string) =>
  harness.sql("select id from kyc_application where business_id = ?", [businessId]);

describe("createKycApplication", () => {
  test("returns a CREATED application with its link, and emits one event without the link", async () => {
    const caller = aBusinessCaller();
    const application = await harness.create(caller, { clientId: goodClient, externalId: "é-1", metadata });
    expect(application).toMatchObject({
      businessId: caller.businessId,
      status: KycStatus.CREATED,
      linkUrl: expect.stringMatching(/^http:/),
      clientId: goodClient,
      externalId: "é-1",
      metadata,
      amlHitCount: 0,
      reasonCodes: [],
      verdict: KycVerdict.UNSPECIFIED,
      attemptsUsed: 0,
      attemptsRemaining: 3,
    });
    expect(application.syncedAtMs).toBe(application.createdAtMs);
    const events = await harness.events(application.id);
    expect(await harness.eventNames(application.id)).toEqual(["CREATED"]);
    expect(events[0]?.application).toMatchObject({ id: application.id, metadata, externalId: "é-1" });
    expect(events[0]?.application).not.toHaveProperty("linkUrl");
  });

  test("uses the client id as the event key, and the application id without a client", async () => {
    const caller = aBusinessCaller();
    const before = (await harness.eventKeys()).length;
    await harness.create(caller, { clientId: goodClient });
    await harness.create(caller, { clientId: goodClient.toUpperCase() });
    const { id } = await harness.create(caller);
    expect((await harness.eventKeys()).slice(before)).toEqual([goodClient, goodClient, id]);
  });

  test("sets a later created_at than the previous application, also in a replica with a slow clock", async () => {
    const caller = aBusinessCaller();
    const first = await harness.create(caller);
    vi.useFakeTimers({ now: Date.now() - 60_000, toFake: ["Date"] });
    const second = await harness.create(caller);
    expect(second.createdAtMs).toBeGreaterThan(first.createdAtMs);
  });

  test("sends the terms to the provider, with our id as the reference", async () => {
    const { id } = await harness.create(aBusinessCaller(), {
      locale: "AR",
      allowedDocuments: ["passport"],
      maxAttempts: 5,
      requireVideo: false,
      ttlHours: 7,
      redirectUrl: "https://shop.test/done?a=1",
      ...personal,
    });
    const [creation] = await creations(id);
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

  test("uses the documented default values", async () => {
    const { id, metadata: defaultMetadata } = await harness.create();
    const [creation] = await creations(id);
    expect(creation?.parameters).toMatchObject({ locale: "fr", max_attempts: 3, require_video: true });
    expect(creation?.parameters["allowed_documents"]).toEqual(["id_card", "passport"]);
    expect(defaultMetadata).toBe("{}");
  });

  test("stores no personal data of the applicant, and the link only encrypted", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.kyc.createKycApplication(
      { locale: "fr", ...personal },
      withIdempotencyKey(caller, "k"),
    );
    const tables = await harness.sql<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    for (const { name } of tables) {
      const [{ content } = { content: "" }] = await harness.sql<{ content: string }>(
        `select coalesce(string_agg(t::text, ' '), '') as content from "${name}" t`,
      );
      for (const canary of ["canary@", "213555000111", "Canary", "1990-01-31", linkUrl, linkUrl?.split("/").at(-1)]) {
        expect(content).not.toContain(canary);
        // PostgreSQL shows bytea columns as hex.
        expect(content).not.toContain(Buffer.from(String(canary)).toString("hex"));
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
  ])("for %s creates nothing here or at the provider, and does not use the key", async (_name, clientId, kind, code) => {
    const caller = aBusinessCaller();
    const request = harness.kyc.createKycApplication({ clientId }, withIdempotencyKey(caller, "k"));
    expect(await refusal(request)).toMatchObject({ kind, code, pointer: "/client_id" });
    expect(await storedApplications(caller.businessId)).toEqual([]);
    expect(await harness.sql("select 1 from idempotency_key where scope = ?", [caller.businessId])).toEqual([]);
    const created = await harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k", "another body"));
    expect(await creations(created.id)).toHaveLength(1);
  });

  test("by the provider become the stored response of the key", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("kyc_create", "error:422");
    const create = (options: Parameters<typeof harness.kyc.createKycApplication>[1]) =>
      refusal(harness.kyc.createKycApplication({}, options));
    expect(await create(withIdempotencyKey(caller, "k"))).toMatchObject({ kind: "upstream_error", code: "kyc_provider_error" });
    const again = withIdempotencyKey(caller, "k");
    expect(await create(again)).toMatchObject({ code: "kyc_provider_error" });
    expect(again.replayed).toBe(true);
    expect(await storedApplications(caller.businessId)).toEqual([]);
  });

  test("apply to every caller except a business", async () => {
    expect(await refusal(harness.kyc.createKycApplication({}, { caller: adminCaller }))).toMatchObject({
      code: "business_key_required",
    });
  });
});

describe("createKycApplication for a client who is blocked during the call to the provider", () => {
  /** Returns one standing after the other, and repeats the last one. */
  const clientsWith = (...standings: ("GOOD" | "BLOCKED" | "unavailable")[]) => {
    let calls = 0;
    return {
      standing: async () => {
        const standing = standings[Math.min(calls++, standings.length - 1)];
        if (standing === "unavailable") throw new DomainError("unavailable", "service_unavailable", "Unavailable.");
        return standing as "GOOD";
      },
    };
  };
  const create = async (clients: ReturnType<typeof clientsWith>, options: ReturnType<typeof withIdempotencyKey>) => {
    await using service = await startTestServer(kycService.rpcServices({ ...harness.context, clients }));
    return await createRpcClient(KycApplicationService, service.channel).createKycApplication({ clientId: goodClient }, options);
  };
  const keysOf = async (businessId: string) =>
    await harness.sql<{ application_id: string }>("select id as application_id from idempotency_key where scope = ?", [
      businessId,
    ]);
  /**
   * Returns the outcome of a creation, and our id, which is read during the call to the provider.
   */
  const createSlowly = async (caller: ReturnType<typeof aBusinessCaller>, attempt: () => Promise<unknown>) => {
    await harness.sandbox.fault("kyc_create", "slow:300");
    const running = attempt();
    const [row] = await eventually(async () => {
      const rows = await keysOf(caller.businessId);
      expect(rows).toHaveLength(1);
      return rows;
    });
    return { id: row?.application_id ?? "", outcome: await running };
  };

  test("stores and emits nothing, cancels at the provider, and does not use the key", async () => {
    const caller = aBusinessCaller();
    const { id, outcome } = await createSlowly(caller, () =>
      refusal(create(clientsWith("GOOD", "BLOCKED"), withIdempotencyKey(caller, "k"))),
    );
    expect(outcome).toMatchObject({ kind: "conflict", code: "client_blocked", pointer: "/client_id" });
    expect(await storedApplications(caller.businessId)).toEqual([]);
    expect(await harness.eventNames(id)).toEqual([]);
    expect((await harness.sandbox.application(id)).status).toBe("CANCELED");
    expect(await keysOf(caller.businessId)).toEqual([]);
    // After the block ends, the same request creates another application with a valid link.
    const created = await create(clientsWith("GOOD"), withIdempotencyKey(caller, "k"));
    expect(created.id).not.toBe(id);
    expect((await harness.sandbox.application(created.id)).status).toBe("CREATED");
  });

  test("stores nothing even if the cancellation at the provider fails", async () => {
    const caller = aBusinessCaller();
    await harness.sandbox.fault("kyc_cancel", "http_500");
    const { id, outcome } = await createSlowly(caller, () =>
      refusal(create(clientsWith("GOOD", "BLOCKED"), withIdempotencyKey(caller, "k"))),
    );
    expect(outcome).toMatchObject({ code: "client_blocked" });
    expect(await storedApplications(caller.businessId)).toEqual([]);
    expect((await harness.sandbox.application(id)).status).toBe("CREATED");
  });

  test("returns the existing application to the first request if a repeated request created it before the client was blocked", async () => {
    const caller = aBusinessCaller();
    const secondCheck = Promise.withResolvers<void>();
    const blocked = Promise.withResolvers<void>();
    const standings = clientsWith("GOOD", "BLOCKED");
    let checks = 0;
    const first = create(
      {
        async standing() {
          if (++checks === 2) {
            secondCheck.resolve();
            await blocked.promise;
          }
          return await standings.standing();
        },
      },
      withIdempotencyKey(caller, "k"),
    );
    await secondCheck.promise;
    // The hold of the first request ends, so that the repeated request can execute.
    await harness.sql("update idempotency_key set held_until = now() where scope = ?", [caller.businessId]);
    const repeated = await create(clientsWith("GOOD"), withIdempotencyKey(caller, "k"));
    blocked.resolve();
    expect(await first).toEqual(repeated);
    expect((await harness.sandbox.application(repeated.id)).status).toBe("CREATED");
    expect(await harness.eventNames(repeated.id)).toEqual(["CREATED"]);
  });

  test("returns 503 if the second check of the client fails, and the same key later creates one application", async () => {
    const caller = aBusinessCaller();
    const { id, outcome } = await createSlowly(caller, () =>
      refusal(create(clientsWith("GOOD", "unavailable"), withIdempotencyKey(caller, "k"))),
    );
    expect(outcome).toMatchObject({ kind: "unavailable", code: "service_unavailable" });
    expect(await storedApplications(caller.businessId)).toEqual([]);
    expect(await create(clientsWith("GOOD"), withIdempotencyKey(caller, "k"))).toMatchObject({ id, clientId: goodClient });
  });
});

describe("createKycApplication with an Idempotency-Key", () => {
  test("creates once and returns the same response again, including the link", async () => {
    const caller = aBusinessCaller();
    const first = await harness.kyc.createKycApplication({ metadata }, withIdempotencyKey(caller, "k"));
    const again = withIdempotencyKey(caller, "k");
    expect(await harness.kyc.createKycApplication({ metadata }, again)).toEqual(first);
    expect(again.replayed).toBe(true);
    expect(await storedApplications(caller.businessId)).toHaveLength(1);
    expect(await creations(first.id)).toHaveLength(1);
  });

  test("rejects another request with the same key", async () => {
    const caller = aBusinessCaller();
    await harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k"));
    expect(await refusal(harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k", "f2")))).toMatchObject({
      code: "idempotency_key_reused",
    });
  });

  test("creates once for five concurrent requests", async () => {
    const caller = aBusinessCaller();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, () => harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k"))),
    );
    const created = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value.id] : []));
    expect(new Set(created).size).toBe(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "idempotency_in_progress" });
    }
    expect(await storedApplications(caller.businessId)).toHaveLength(1);
  });

  test("creates once while repeated requests arrive without a pause", async () => {
    for (let round = 0; round < 5; round++) {
      const caller = aBusinessCaller();
      let isRunning = true;
      await harness.sandbox.fault("kyc_create", "slow:100");
      const first = harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k")).finally(() => {
        isRunning = false;
      });
      await eventually(async () =>
        expect(await harness.sql("select 1 from idempotency_key where scope = ?", [caller.businessId])).toHaveLength(1),
      );
      const repeating = Array.from({ length: 4 }, async () => {
        while (isRunning) await harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k")).catch(() => {});
      });
      const { id } = await first;
      await Promise.all(repeating);
      expect(await storedApplications(caller.businessId)).toEqual([{ id }]);
    }
  });

  test("accepts the same key of two businesses", async () => {
    const first = await harness.kyc.createKycApplication({}, withIdempotencyKey(aBusinessCaller(), "k"));
    const other = await harness.kyc.createKycApplication({}, withIdempotencyKey(aBusinessCaller(), "k"));
    expect(other.id).not.toBe(first.id);
  });
});

describe("createKycApplication without a usable response of the provider", () => {
  test.each(["timeout_after", "reset_after", "truncated", "html_200", "http_500", "timeout_before"])(
    "repeats the request with the same reference after %s, and creates one application",
    async (mode) => {
      const caller = aBusinessCaller();
      await harness.sandbox.fault("kyc_create", mode);
      const application = await harness.create(caller, personal);
      const calls = await creations(application.id);
      expect(calls.length).toBe(2);
      expect(await storedApplications(caller.businessId)).toEqual([{ id: application.id }]);
    },
  );

  test.each(["reset_after", "truncated", "html_200", "http_503", "timeout_before"])(
    "returns 503 after repeated %s, stores nothing, and the same key later creates one application",
    async (mode) => {
      const caller = aBusinessCaller();
      await harness.sandbox.fault("kyc_create", mode, 100);
      expect(await refusal(harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k")))).toMatchObject({
        kind: "unavailable",
        code: "kyc_provider_unavailable",
      });
      expect(await storedApplications(caller.businessId)).toEqual([]);
      expect(await harness.kyc.listKycApplications({ limit: 10 }, { caller })).toMatchObject({ total: 0 });
      expect(await refusal(harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k", "f2")))).toMatchObject({
        code: "idempotency_key_reused",
      });

      await harness.sandbox.clearFaults();
      const application = await harness.kyc.createKycApplication({}, withIdempotencyKey(caller, "k"));
      const calls = await creations(application.id);
      expect(calls.length).toBeGreaterThan(3);
      expect(new Set(calls.map(({ parameters }) => parameters["reference"]))).toEqual(new Set([application.id]));
      expect(await storedApplications(caller.businessId)).toEqual([{ id: application.id }]);
    },
  );

  test("returns CREATED to a repeated request after a lost response for an application that the applicant has opened, and the next read returns OPENED", async () => {
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
    expect(await harness.refreshed(application.id, caller)).toMatchObject({ status: KycStatus.OPENED });
  });
});

test("createKycApplication returns 503 and creates nothing while clients is unavailable, except without a client", async () => {
  const caller = aBusinessCaller();
  const { clients } = harness.context;
  const standing = async () => {
    throw new DomainError("unavailable", "service_unavailable", "Unavailable.");
  };
  Object.assign(harness.context, { clients: { standing } });
  try {
    const call = withIdempotencyKey(caller, "k");
    expect(await refusal(harness.kyc.createKycApplication({ clientId: goodClient }, call))).toMatchObject({
      kind: "unavailable",
      code: "service_unavailable",
    });
    expect(await storedApplications(caller.businessId)).toEqual([]);
    await harness.create(caller);
  } finally {
    Object.assign(harness.context, { clients });
  }
  expect(await harness.kyc.createKycApplication({ clientId: goodClient }, withIdempotencyKey(caller, "k"))).toMatchObject({
    clientId: goodClient,
  });
});
