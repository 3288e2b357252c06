import { type ApiCaller, apiCaller } from "@amana/dev-env/demo/api";
import { submit } from "@amana/dev-env/demo/at-the-sandbox";
import type { System } from "@amana/dev-env/system";
import { aPaidPayment } from "../a-paid-payment.ts";

/** What later operations go on with. */
export const newIds = () => ({ paid: [] as string[], links: [] as string[], clients: [] as string[] });
type Ids = ReturnType<typeof newIds>;

/** What a business does. */
interface Operation {
  readonly name: string;
  run(on: { system: System; call: ApiCaller; prefix: string }, number: number, ids: Ids): Promise<unknown>;
}

async function created(call: ApiCaller, path: string, body: object, key: string): Promise<Record<string, unknown>> {
  const answer = await call("POST", `/api/v1/${path}`, body, { "idempotency-key": key });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

const person = (name: string) => ({
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

/** Each with an Idempotency-Key and, where there is one, its event delivered to one endpoint. */
export const operations: readonly Operation[] = [
  {
    name: "payment made, paid and confirmed",
    run: async ({ system }, _, ids) => ids.paid.push(await aPaidPayment(system)),
  },
  {
    name: "refund, its event delivered",
    run: ({ call, prefix }, number, ids) => created(call, `payments/${ids.paid[number]}/refund`, {}, `${prefix}${number}`),
  },
  {
    name: "verification asked for",
    run: async ({ call, prefix }, number, ids) => {
      const { link_url } = await created(call, "kyc/applications", { external_id: `a${number}` }, `${prefix}${number}`);
      ids.links.push(String(link_url));
    },
  },
  {
    name: "verdict, its event delivered",
    run: ({ system }, number, ids) => submit(system.sandboxUrl, ids.links[number] ?? "", { outcome: "approved" }),
  },
  {
    name: "client",
    run: async ({ call, prefix }, number, ids) =>
      ids.clients.push(String((await created(call, "clients/person", person(`${prefix}${number}`), `${prefix}${number}`))["id"])),
  },
  {
    name: "beneficiary",
    run: ({ call, prefix }, number, ids) =>
      created(
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

/** All of an operation, a few at a time. */
export async function runAll(operation: Operation, system: System, count: number, ids: Ids, prefix: string): Promise<void> {
  const call = apiCaller(system.gatewayUrl, system.business.api_key);
  let next = 0;
  const worker = async () => {
    for (let number = next++; number < count; number = next++) {
      await operation.run({ system, call, prefix }, number, ids);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const atOnce = 4;
