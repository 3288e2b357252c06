import { randomUUID } from "node:crypto";
import { aPerson, someDetails } from "@amana/dev-env/demo/a-person";
import { submitApplication } from "@amana/dev-env/demo/sandbox-control";
import { waitUntil } from "@amana/dev-env/eventually";
import { withClient } from "@amana/e2e/find-everywhere";
import { databaseSettings, execAmana } from "@amana/e2e/run-amana";
import { callSandbox } from "@amana/e2e/test-system";
import { type CallGateway, createCallGateway, repeatUntilOver, type Shop } from "../rolling/customers.ts";

const auditMsMax = 180_000;

/** Work of `useSecrets`. Its effects are checked at the end. */
export interface UsedSecrets {
  /**
   * Ids of verified clients. clients approves them automatically, so the audit trail must contain
   * an approval of each client.
   */
  readonly verified: string[];
}

/**
 * Until the signal is aborted, uses the secrets that the customers of `rolling` do not use. Reads
 * links and webhook secrets that another replica encrypted, repeats requests, makes kyc call
 * clients, and causes events of all three topics.
 */
export async function useSecrets(shop: Shop, checkedUrl: string, used: UsedSecrets): Promise<void> {
  const call = createCallGateway(shop);
  await Promise.all([
    repeatUntilOver(shop, 150, () => verifyClient(shop, call, used)),
    repeatUntilOver(shop, 150, () => checkEndpoint(call, checkedUrl)),
    repeatRequest(shop, call),
  ]);
}

async function verifyClient({ system, report, completed }: Shop, call: CallGateway, { verified }: UsedSecrets): Promise<void> {
  const email = `lina-${randomUUID()}@example.com`;
  const client = await call("a client's registration", "POST", "/api/v1/clients/person", 201, { ...aPerson, email });
  if (!client) return;
  const id = String(client["id"]);
  await call("a client's details", "POST", `/api/v1/clients/${id}/onboarding/details`, 201, someDetails);
  const application = await call("a client's application", "POST", "/api/v1/kyc/applications", 201, { client_id: id });
  if (!application) return;
  const [path, link] = [`/api/v1/kyc/applications/${application["id"]}`, application["link_url"]];
  const read = await call("a read of an application", "GET", path, 200);
  report.check(
    "every replica returns the same link",
    read?.["link_url"] === link,
    () => `${read?.["link_url"]}, expected ${link}`,
  );
  await submitApplication(system.sandboxUrl, String(link), { outcome: "approved" });
  completed.applications.push(String(application["id"]));
  verified.push(id);
}

/** Creates and checks an endpoint, so that another replica may have to decrypt its secret. */
async function checkEndpoint(call: CallGateway, url: string): Promise<void> {
  const endpoint = await call("an endpoint's registration", "POST", "/api/v1/webhook-endpoints", 201, { url });
  if (!endpoint) return;
  const path = `/api/v1/webhook-endpoints/${endpoint["id"]}`;
  await call("a check of an endpoint", "POST", `${path}/check`, 200);
  await call("a deletion of an endpoint", "DELETE", path, 204);
}

async function repeatRequest(shop: Shop, call: CallGateway): Promise<void> {
  const body = { ...aPerson, email: `nadia-${randomUUID()}@example.com` };
  const register = (name: string) => call(name, "POST", "/api/v1/clients/person", 201, body, { "idempotency-key": body.email });
  const first = await register("a keyed registration");
  if (!first) return;
  shop.completed.clients.push(body.email);
  await repeatUntilOver(shop, 150, async () => {
    const repeated = await register("a repeated registration");
    shop.report.check(
      "a repeated request returns the first response",
      repeated?.["id"] === first["id"],
      () => `${repeated?.["id"]}`,
    );
  });
}

/**
 * Checks that the audit trail contains every approval, that no message is dead-lettered, and that
 * no callback was rejected. If an event was lost or rejected, an approval would be missing.
 */
export async function checkUses({ system, report, completed }: Shop, { verified }: UsedSecrets): Promise<void> {
  const query = "select after->>'client_id' as id from audit_event where action = 'onboarding.approved'";
  await withClient(system.databaseUrls["identity"] ?? "", async (identity) => {
    const readApproved = async () => (await identity.query<{ id: string }>(query)).rows.map(({ id }) => id);
    let approved: string[] = [];
    await waitUntil(async () => {
      approved = await readApproved();
      return verified.every((id) => approved.includes(id));
    }, auditMsMax);
    for (const client of verified) {
      const count = approved.filter((id) => id === client).length;
      report.check("an approval is in the audit trail once", count === 1, () => `${client}: ${count} times`);
    }
  });
  const { out, err } = await execAmana(databaseSettings(system.databaseUrls), "dead-letters", "list", "--databases", "--json");
  report.check("the list of dead-lettered messages is empty", out.trim() === "[]", () => err || out);
  for (const id of completed.applications) {
    const view = (await callSandbox(system, "GET", `/sandbox/kyc?reference=${id}`)) as {
      callbacks: { attempts: { result: string }[] }[];
    };
    const results = view.callbacks.flatMap(({ attempts }) => attempts.map(({ result }) => result));
    report.check("no callback is rejected as forged", !results.includes("401"), () => `${id}: ${results}`);
  }
}
