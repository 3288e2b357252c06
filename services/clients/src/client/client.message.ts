import { ClientSchema } from "@amana/contracts/clients/v1/client_pb";
import { defineView } from "@amana/database";
import { Client } from "./client.ts";

export const clientView = defineView(Client, ClientSchema);
export const toClientMessage = clientView.toMessage;
