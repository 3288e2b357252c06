import { ClientSchema } from "@amana/contracts/clients/v1/client_pb";
import { ListClientsRequestSchema } from "@amana/contracts/clients/v1/client_service_pb";
import { defineList, defineView } from "@amana/database";
import { Client } from "./client.ts";

export const clientView = defineView(Client, ClientSchema);
export const toClientMessage = clientView.toMessage;

export const clientList = defineList(
  clientView,
  ListClientsRequestSchema,
  { search: { contains: "search_text" }, email: "lower(email) = lower(?)" },
  { lookUpIn: "client_of_tenants" },
);
