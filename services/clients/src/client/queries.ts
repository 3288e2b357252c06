import { ListClientsRequestSchema } from "@amana/contracts/clients/v1/client_service_pb";
import { defineList, type Tally } from "@amana/database";
import { clientView } from "./client.message.ts";

/** Of all filters but those that find one client or a handful. */
export const clientTally: Tally = { table: "client", dimensions: ["kyc_status", "risk_level", "is_blacklisted", "blocked"] };

export const clientList = defineList(
  clientView,
  ListClientsRequestSchema,
  { search: { contains: "search_text" }, email: "lower(email) = lower(?)" },
  clientTally,
);
