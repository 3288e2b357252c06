import { ClientSchema } from "@amana/contracts/clients/v1/client_pb";
import { ListClientsRequestSchema } from "@amana/contracts/clients/v1/client_service_pb";
import { defineList, defineView, type Tally } from "@amana/database";
import { Client } from "./client.ts";

export const clientView = defineView(Client, ClientSchema);
export const toClientMessage = clientView.toMessage;

/** Of all filters but those that find one client or a handful. */
export const clientTally: Tally = { table: "client", dimensions: ["kyc_status", "risk_level", "is_blacklisted", "blocked"] };

export const clientList = defineList(
  clientView,
  ListClientsRequestSchema,
  { search: { contains: "search_text" }, email: "lower(email) = lower(?)" },
  clientTally,
  "client_of_tenants",
);
