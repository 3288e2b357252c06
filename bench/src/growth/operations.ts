import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { submitApplication } from "@amana/dev-env/demo/sandbox-control";
import type { System } from "@amana/dev-env/system";
import { createPaidPayment } from "../paid-payment.ts";

/** Returns empty lists for ids and links that one operation creates and a later operation uses. */
export const createIds = () => ({ paid: [] as string[], links: [] as string[], clients: [] as string[] });
type Ids = ReturnType<typeof createIds>;

/** A measured operation of a business. */
interface Operation {
  readonly name: string;
  run(context: { system: System; call: ApiCaller; prefix: string }, number: number, ids: Ids): Promise<unknown>;
}

async function create(call: ApiCaller, path: string, body: object, key: string): Promise<Record<string, unknown>> {
  const response = await call("POST", `/api/v1/${path}`, body, { "idempotency-key": key });
  if (response.status >= 300) throw new Error(`POST ${path} returned status ${response.status}: ${response.text}`);
  return response.body;
}

const createPerson = (name: string) => ({
  first_name: "Amina",
  last_name: "Benali",
  date_of_birth: "1990-01-01",
  gender: "female",
  nationality: "DZA",
  birth_country: "DZA",
  country_of_tax_residence: "DZA",
  email: `${name}@example.dz`,
  address: "12 rue Didouche Mourad",
  city: "Alger",
  postcode: "16000",
  country_code: "DZA",
});

/**
 * The measured operations. Each request has an Idempotency-Key. Each event has one delivery.
 */
export const operations: readonly Operation[] = [
  {
    name: "payment created, paid and confirmed",
    run: async ({ system }, _, ids) => ids.paid.push(await createPaidPayment(system)),
  },
  {
    name: "refund with event delivery",
    run: ({ call, prefix }, number, ids) => create(call, `payments/${ids.paid[number]}/refund`, {}, `${prefix}${number}`),
  },
  {
    name: "verification created",
    run: async ({ call, prefix }, number, ids) => {
      const { link_url } = await create(call, "kyc/applications", { external_id: `a${number}` }, `${prefix}${number}`);
      ids.links.push(String(link_url));
    },
  },
  {
    name: "verdict with event delivery",
    run: ({ system }, number, ids) => submitApplication(system.sandboxUrl, ids.links[number] ?? "", { outcome: "approved" }),
  },
  {
    name: "client created",
    run: async ({ call, prefix }, number, ids) =>
      ids.clients.push(
        String((await create(call, "clients/person", createPerson(`${prefix}${number}`), `${prefix}${number}`))["id"]),
      ),
  },
  {
    name: "beneficiary created",
    run: ({ call, prefix }, number, ids) =>
      create(
        call,
        "beneficiaries",
        {
          client_id: ids.clients[number],
          beneficiary_type: "PERSON",
          name: "Karim Haddad",
          iban: "DZ580002100001113000000570",
        },
        `${prefix}${number}`,
      ),
  },
  {
    name: "payment read",
    run: ({ call }, number, ids) => call("GET", `/api/v1/payments/${ids.paid[number]}`),
  },
];

/** Runs an operation `count` times, four at a time. */
export async function runAll(operation: Operation, system: System, count: number, ids: Ids, prefix: string): Promise<void> {
  const call = apiCaller(system.gatewayUrl, system.business.api_key);
  let nextIndex = 0;
  const worker = async () => {
    for (let number = nextIndex++; number < count; number = nextIndex++) {
      await operation.run({ system, call, prefix }, number, ids);
    }
  };
  await Promise.all(Array.from({ length: parallelOperations }, worker));
}

const parallelOperations = 4;
