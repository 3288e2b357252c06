import { randomUUID } from "node:crypto";
import { parseLanguage } from "@amana/pages";
import { isObject, isText, isWebAddress } from "../../checks.ts";
import type { Application } from "../application.ts";
import { newApplication } from "../create-application.ts";
import { digestProfile } from "../profile.ts";
import { type ProtocolRoutes, unknownField } from "../protocol-routes.ts";
import type { Provider } from "../provider.ts";
import { type DocumentType, documentTypes } from "../vocabulary.ts";
import { sessionStatus } from "./decision.ts";
import { lifetimeSeconds } from "./setup-routes.ts";

const creationFields = [
  "workflow_id",
  "vendor_data",
  "language",
  "callback",
  "callback_method",
  "contact_details",
  "expected_details",
];
const contactFields = ["email", "phone", "send_notification_emails", "email_lang"];
const detailFields = ["expected_document_types", "first_name", "last_name", "date_of_birth", "gender", "nationality"];
const documentOf: Readonly<Record<string, DocumentType>> = { ID: "id_card", P: "passport" };
const unfinished = ["CREATED", "OPENED", "SUBMITTED", "PROCESSING"];

/** Registers the route that creates a session (docs.didit.me/sessions-api/create-session). */
export function creationRoutes({ route, refuseField }: ProtocolRoutes, provider: Provider): void {
  const { applications, clock, config } = provider;
  route("POST", "/v3/session/", "kyc_create", ({ body }, reply) => {
    const creation = readSession(body ?? {}, Object.values(config.diditWorkflows));
    if ("field" in creation) return refuseField(reply, creation.field, creation.problem);
    // Didit creates no new session while the user has an unfinished session of the same workflow.
    const reused = applications
      .ofReference(creation.reference)
      .find(
        (known) => isSession(known) && known.vendor?.workflowOrLevel === creation.workflowId && unfinished.includes(known.status),
      );
    const session = reused ?? createSession(creation, creation.workflowId === config.diditWorkflows.still, clock.nowMs());
    if (!reused) applications.save(session);
    reply.code(201);
    return {
      session_id: session.providerId,
      session_number: 1,
      session_token: session.linkToken,
      vendor_data: session.reference,
      status: sessionStatus(session),
      workflow_id: session.vendor?.workflowOrLevel,
      url: `${provider.publicUrl()}/verify/${session.linkToken}`,
    };
  });
}

/** Returns whether the application is a session of Didit that was not deleted. */
export const isSession = ({ dialect, vendor }: Application): boolean => dialect === "didit" && !vendor?.isDeleted;

type Creation = Exclude<ReturnType<typeof readSession>, { field: string }>;

function readSession(body: Readonly<Record<string, unknown>>, workflowIds: readonly string[]) {
  const invalid = (field: string, problem: string) => ({ field, problem });
  const unknown = unknownField(body, creationFields);
  if (unknown) return invalid(unknown, "Unknown field.");
  const { workflow_id: workflowId, vendor_data: reference, language, callback, callback_method: method } = body;
  const { contact_details: contact = {}, expected_details: details = {} } = body;
  if (!isText(workflowId) || !workflowIds.includes(workflowId))
    return invalid("workflow_id", "No published workflow has this id.");
  if (!isText(reference) || reference === "") return invalid("vendor_data", "This field is required.");
  if (language !== undefined && !parseLanguage(language)) return invalid("language", "Not a valid choice.");
  if (callback !== undefined && !isWebAddress(callback)) return invalid("callback", "Enter a valid URL.");
  if (method !== undefined && !["initiator", "completer", "both"].includes(String(method))) {
    return invalid("callback_method", "Not a valid choice.");
  }
  if (!isObject(contact) || unknownField(contact, contactFields)) return invalid("contact_details", "Unknown field.");
  if (!isObject(details) || unknownField(details, detailFields)) return invalid("expected_details", "Unknown field.");
  const types = details["expected_document_types"] ?? ["ID", "P"];
  if (!Array.isArray(types) || !types.every((type) => Object.hasOwn(documentOf, String(type)))) {
    return invalid("expected_details", "expected_document_types must list P and ID.");
  }
  return {
    workflowId,
    reference,
    language: parseLanguage(language) ?? "en",
    redirectUrl: isText(callback) ? callback : undefined,
    allowedDocuments: documentTypes.filter((type) => types.some((code) => documentOf[String(code)] === type)),
    details,
  };
}

function createSession({ workflowId, details, ...creation }: Creation, isStill: boolean, nowMs: number): Application {
  const { first_name, last_name, date_of_birth: birth_date } = details;
  const profileNames = Object.keys(details).filter((name) => name !== "expected_document_types");
  return newApplication({
    ...creation,
    dialect: "didit",
    vendor: { workflowOrLevel: workflowId, profileNames, reviews: [] },
    providerId: randomUUID(),
    callbackUrl: "",
    attemptsMax: 1,
    requireVideo: !isStill,
    linkExpiresAtMs: nowMs + lifetimeSeconds * 1000,
    profile: digestProfile({ first_name, last_name, birth_date }),
  });
}
