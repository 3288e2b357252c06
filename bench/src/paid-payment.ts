import { apiCaller } from "@amana/dev-env/demo/api";
import type { System } from "@amana/dev-env/system";
import { request } from "undici";

const card = { pan: "6280581110007215", expiry: "01/2027", cvv2: "373", password: "123456" };

/** Creates and pays a payment of the development business. Returns the payment's id. */
export async function createPaidPayment(system: System): Promise<string> {
  const call = apiCaller(system.gatewayUrl, system.business.api_key);
  const created = await call("POST", "/api/v1/payments", {
    amount: "5000.00",
    success_url: "https://shop.example/merci",
    fail_url: "https://shop.example/desole",
    order_ref: "bench",
  });
  const paid = await request(`${system.sandboxUrl}/sandbox/payments/${created.body["processor_order_id"]}/pay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(card),
  });
  const { redirect_url } = (await paid.body.json()) as { redirect_url: string };
  const returned = await request(redirect_url);
  await returned.body.dump();
  if (returned.statusCode !== 303) throw new Error(`the return from the processor got status ${returned.statusCode}`);
  return String(created.body["id"]);
}
