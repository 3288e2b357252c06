import { readOne, readPage } from "@amana/service";
import { eventNotFound } from "../event/event.errors.ts";
import { eventView } from "../event/event.message.ts";
import { eventList } from "../event/queries.ts";
import { webhookEndpointList } from "../webhook-endpoint/queries.ts";
import { toWebhookEndpointMessage } from "../webhook-endpoint/webhook-endpoint.message.ts";

export const listWebhookEndpoints = readPage(webhookEndpointList, "webhookEndpoints", toWebhookEndpointMessage);

export const getEvent = readOne(eventView, eventView.toMessage, eventNotFound);
export const listEvents = readPage(eventList, "events", eventView.toMessage);
