import { createServer } from "node:http";
import { readWebhook, WebhookRefused } from "@amana/webhook-receiver";

const secrets = (process.env["WEBHOOK_SECRETS"] ?? "").split(",");
const seen = new Set<string>(); // In earnest: a unique column, in the transaction that takes up the event.

createServer(async (request, response) => {
  try {
    const webhook = await readWebhook(request, { secrets });
    if (!seen.has(webhook.id)) console.log(webhook.event, webhook.body["payment_id"]);
    seen.add(webhook.id);
    response.writeHead(204).end();
  } catch (error) {
    // Whatever else went wrong is worth another delivery.
    response.writeHead(error instanceof WebhookRefused ? error.status : 500).end();
  }
}).listen(Number(process.env["PORT"]), "127.0.0.1");
