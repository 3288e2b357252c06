import { readOne, readPage } from "@amana/service";
import { eventNotFound } from "../event/event.errors.ts";
import { eventList, eventView } from "../event/event.message.ts";
import { toWebhookEndpointMessage, webhookEndpointList } from "../webhook-endpoint/webhook-endpoint.message.ts";

export const listWebhookEndpoints = readPage(webhookEndpointList, "webhookEndpoints", toWebhookEndpointMessage);

export const getEvent = readOne(eventView, eventView.toMessage, eventNotFound);
export const listEvents = readPage(eventList, "events", eventView.toMessage);
