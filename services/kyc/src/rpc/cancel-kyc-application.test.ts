import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { KycStatus } from "@amana/contracts/kyc/v1/kyc_application_pb";
import { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { createRpcClient } from "@amana/rpc";
import { uuidv7 } from "@amana/runtime";
import { aBusinessCaller, refusal, startTestServer, withIdempotencyKey } from "@amana/testing";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Harness, startHarness } from "../../test/harness.ts";
import { kyc as kycService } from "../service.ts";
import { createPortProvider } from "../verification-provider/port/port-provider.ts";
import { toProviders } from "../verification-provider/providers.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ providerTimeoutMs: 1_000 });
});
afterEach(() => harness.sandbox.clearFaults());
afterAll(() => harness[Symbol.asyncDispose]());

const cancel = (id: string, caller: ReturnType<typeof aBusinessCaller>) => harness.kyc.cancelKycApplication({ id }, { caller });
const countCancellations = async (id: string) =>
  (await harness.sandbox.application(id)).calls.filter(({ operation }) => operation === "kyc_cancel").length;

describe("cancelKycApplication", () => {
  test("cancelKycApplication cancels a CREATED application at the provider once, and emits one event", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    expect(await cancel(id, caller)).toMatchObject({ id, status: KycStatus.CANCELED, linkUrl });
    expect((await harness.sandbox.application(id)).status).toBe("CANCELED");
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "CANCELED"]);
    expect(await refusal(cancel(id, caller))).toMatchObject({ kind: "conflict", code: "kyc_application_final" });
    expect(await countCancellations(id)).toBe(1);
  });

  test.each([
    ["opened", async (linkUrl?: string) => harness.sandbox.open(linkUrl)],
    ["failed", async (linkUrl?: string) => harness.sandbox.submit(linkUrl, { outcome: "failed" })],
  ])(
    "cancelKycApplication cancels an application that is %s at the provider but still CREATED in kyc",
    async (_name, changeAtProvider) => {
      const caller = aBusinessCaller();
      const { id, linkUrl } = await harness.create(caller);
      await changeAtProvider(linkUrl);
      expect(await cancel(id, caller)).toMatchObject({ status: KycStatus.CANCELED });
    },
  );

  test("cancelKycApplication throws kyc_in_progress and stores the provider's status if the applicant has already submitted", async () => {
    const caller = aBusinessCaller();
    const { id, linkUrl } = await harness.create(caller);
    await harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 60 });
    const expectedError = { kind: "conflict", code: "kyc_in_progress" };
    expect(await refusal(harness.kyc.cancelKycApplication({ id }, withIdempotencyKey(caller, "k")))).toMatchObject(expectedError);
    const [row] = await harness.sql("select status from kyc_application where id = ?", [id]);
    expect(row).toEqual({ status: "PROCESSING" });
    expect(await refusal(harness.kyc.cancelKycApplication({ id }, withIdempotencyKey(caller, "k")))).toMatchObject(expectedError);
    expect(await countCancellations(id)).toBe(1);
  });

  test.each([
    ["COMPLETED", async (linkUrl?: string) => harness.sandbox.submit(linkUrl, { outcome: "approved", hold_seconds: 0 })],
    ["EXPIRED", async (linkUrl?: string) => harness.sandbox.expire(linkUrl)],
  ])(
    "cancelKycApplication throws kyc_application_final for an application that is %s at the provider and not yet final in kyc",
    async (status, changeAtProvider) => {
      const caller = aBusinessCaller();
      const { id, linkUrl } = await harness.create(caller);
      await changeAtProvider(linkUrl);
      for (const _ of [1, 2]) {
        expect(await refusal(cancel(id, caller))).toMatchObject({ kind: "conflict", code: "kyc_application_final" });
      }
      expect(await harness.sql("select status from kyc_application where id = ?", [id])).toEqual([{ status }]);
      expect(await countCancellations(id)).toBe(1);
    },
  );

  test("cancelKycApplication throws kyc_provider_error if the provider rejects the cancellation of an application without a submission", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.create(caller);
    const { provider_id } = await harness.sandbox.application(id);
    const state = { provider_id, reference: id, status: "OPENED", sequence: 1 };
    await using server = createServer((_request, response) => response.writeHead(409).end(JSON.stringify(state)));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using provider = createPortProvider({ url, token: "t", callbackUrl: url, callbackSecrets: [], timeoutMs: 1_000 });
    await using service = await startTestServer(
      kycService.rpcServices({ ...harness.context, providers: toProviders("port", [provider], harness.context.logger) }),
    );
    const kyc = createRpcClient(KycApplicationService, service.channel);
    expect(await refusal(kyc.cancelKycApplication({ id }, { caller }))).toMatchObject({ code: "kyc_provider_error" });
    expect(await cancel(id, caller)).toMatchObject({ status: KycStatus.CANCELED });
  });

  test("cancelKycApplication throws the same error for another business's application, an unknown id and a malformed id", async () => {
    const { id } = await harness.create();
    const unknownIdError = await refusal(cancel(uuidv7(), aBusinessCaller()));
    expect(await refusal(cancel(id, aBusinessCaller()))).toEqual(unknownIdError);
    expect(await refusal(cancel("x", aBusinessCaller()))).toEqual(unknownIdError);
    expect(await countCancellations(id)).toBe(0);
  });

  test("cancelKycApplication returns the stored response for a repeated Idempotency-Key", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.create(caller);
    const firstResponse = await harness.kyc.cancelKycApplication({ id }, withIdempotencyKey(caller, "k"));
    const repeatedOptions = withIdempotencyKey(caller, "k");
    expect(await harness.kyc.cancelKycApplication({ id }, repeatedOptions)).toEqual(firstResponse);
    expect(repeatedOptions.replayed).toBe(true);
    expect(await countCancellations(id)).toBe(1);
  });

  test.each(["reset_after", "timeout_before", "http_500"])(
    "cancelKycApplication repeats its call to the provider after the fault %s, and emits one event",
    async (mode) => {
      const caller = aBusinessCaller();
      const { id } = await harness.create(caller);
      await harness.sandbox.fault("kyc_cancel", mode);
      expect(await cancel(id, caller)).toMatchObject({ status: KycStatus.CANCELED });
      expect(await harness.readEventNames(id)).toEqual(["CREATED", "CANCELED"]);
    },
  );

  test("cancelKycApplication returns the cancelled application for a repeated Idempotency-Key after the provider's response was lost", async () => {
    const caller = aBusinessCaller();
    const { id } = await harness.create(caller);
    await harness.sandbox.fault("kyc_cancel", "reset_after", 100);
    expect(await refusal(harness.kyc.cancelKycApplication({ id }, withIdempotencyKey(caller, "k")))).toMatchObject({
      kind: "unavailable",
      code: "kyc_provider_unavailable",
    });
    expect(await harness.readRefreshed(id, caller)).toMatchObject({ status: KycStatus.CANCELED });
    expect(await harness.kyc.cancelKycApplication({ id }, withIdempotencyKey(caller, "k"))).toMatchObject({
      status: KycStatus.CANCELED,
    });
    expect(await refusal(harness.kyc.cancelKycApplication({ id }, withIdempotencyKey(caller, "other")))).toMatchObject({
      code: "kyc_application_final",
    });
    expect(await harness.readEventNames(id)).toEqual(["CREATED", "CANCELED"]);
  });
});
