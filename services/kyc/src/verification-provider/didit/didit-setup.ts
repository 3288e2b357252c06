import { readCount, readMatching, readObject } from "../read-values.ts";
import { createProblems, type ProviderSetup, setupError } from "../setup.ts";
import { startTimeBudget } from "../time-budget.ts";
import { causeOf, type SetupProblem } from "../verification-provider.ts";
import type { DiditApi } from "./didit-api.ts";
import { isActiveLiveness } from "./read-decision.ts";

/**
 * Configurations of the workflow that records a video (`video`) and the workflow that takes one
 * picture (`still`).
 */
export interface Workflows {
  readonly video: Workflow;
  readonly still: Workflow | undefined;
}

/** The parts of a workflow's configuration that kyc uses. */
export interface Workflow {
  /**
   * Lifetime of a session in milliseconds, or undefined if the response contains no valid lifetime.
   */
  readonly lifetimeMs: number | undefined;
  readonly problems: readonly SetupProblem[];
}

/** Documented range of a session's lifetime: an hour to 28 days. */
const lifetimeSecondsMin = 3_600;
const lifetimeSecondsMax = 28 * 86_400;
const toUpper = (value: unknown): string => (typeof value === "string" ? value.toUpperCase() : "");

/**
 * Returns the settings id of a workflow's newest published version, or undefined if the list
 * contains none.
 */
function findPublishedVersion(content: unknown, workflowId: string): string | undefined {
  // Older pages of Didit's documentation show a list, and newer pages show an object with
  // `results`.
  const results = Array.isArray(content) ? content : readObject(content)["results"];
  const versions = (Array.isArray(results) ? results : [])
    .map(readObject)
    .filter(
      (version) => version["workflow_id"] === workflowId && version["is_archived"] !== true && version["status"] !== "draft",
    )
    .toSorted((a, b) => (readCount(b["version"]) ?? 0) - (readCount(a["version"]) ?? 0));
  return readMatching(/^[0-9a-f-]{36}$/i, versions[0]?.["uuid"]);
}

/**
 * Reads a workflow's configuration (docs.didit.me/management-api/workflows/get) and lists the
 * requirements that the configuration does not meet. `usesPhoto` is true for the workflow that
 * evaluates one picture.
 */
export function readWorkflow(content: unknown, name: string, usesPhoto: boolean): Workflow {
  const fields = readObject(content);
  const { problems, require, advise } = createProblems(`${name}: `);
  const features = readFeatures(fields);
  for (const feature of ["OCR", "LIVENESS", "FACE_MATCH", "AML"]) {
    require(features.has(feature), `add the feature ${feature} to the workflow and publish it`);
  }
  const isActive = isActiveLiveness(fields["face_liveness_method"]);
  require(usesPhoto || isActive, "set the liveness method to ACTIVE_3D or FLASHING, because PASSIVE evaluates one picture");
  require(fields["max_retry_attempts"] ===
    0, "set max_retry_attempts to 0, because a repeated session would be a second submission");
  const documents = readObject(readObject(fields["documents_allowed"])["DZA"]);
  require("P" in documents &&
    "ID" in documents, "allow passports (P) and identity cards (ID) of Algeria (DZA) in documents_allowed");
  advise(
    fields["is_aml_monitoring_enabled"] !== true,
    "switch ongoing AML monitoring off, because its later results are not used",
  );
  for (const action of ["expected_details_mismatch_action", "duplicated_user_action"]) {
    advise(
      !["NONE", "NO_ACTION"].includes(toUpper(fields[action])),
      `${action} is set to no action; set it to review, so that a person decides`,
    );
  }
  const lifetimeMs = readLifetimeMs(fields["session_expiration_time"]);
  require(lifetimeMs !== undefined, "set session_expiration_time to a number of seconds from 3600 to 2419200");
  return { lifetimeMs, problems };
}

/**
 * Returns the lifetime of a session in milliseconds. The documented unit is the second, and the
 * documented minimum is an hour. A value below 3600 is read as minutes, because older documentation
 * has the example 1440.
 */
export function readLifetimeMs(value: unknown): number | undefined {
  const count = readCount(value);
  if (!count || count > lifetimeSecondsMax) return undefined;
  return count >= lifetimeSecondsMin ? count * 1_000 : count * 60_000;
}

/** Returns the features of a workflow, except features that its settings disable. */
function readFeatures(fields: Readonly<Record<string, unknown>>): Set<string> {
  const { features } = fields;
  // In the list of versions, Didit returns the features as one text, such as "OCR + LIVENESS".
  const entries = typeof features === "string" ? features.split(/[^A-Za-z_]+/) : features;
  const names = (Array.isArray(entries) ? entries : []).map((entry) => toUpper(readObject(entry)["feature"] ?? entry));
  const switches: Readonly<Record<string, string>> = {
    LIVENESS: "is_liveness_enabled",
    FACE_MATCH: "is_face_match_enabled",
    AML: "is_aml_enabled",
  };
  return new Set(names.filter((name) => fields[switches[name] ?? ""] !== false));
}

/** Reads the configured workflows and lists their problems. */
export async function readSetup(api: DiditApi, timeoutMs: number): Promise<ProviderSetup<Workflows>> {
  const get = (path: string) => api.get("kyc_probe", path, startTimeBudget(timeoutMs));
  const workflowList = await get("/v3/workflows/?limit=200");
  if (workflowList.status !== 200) {
    const cause = causeOf(api.toFailure(workflowList));
    return { value: undefined, problems: [setupError(`the workflows cannot be read (${cause})`)] };
  }
  let isComplete = true;
  const read = async (workflowId: string, usesPhoto: boolean): Promise<Workflow> => {
    const name = usesPhoto ? "KYC_DIDIT_WORKFLOW_ID_STILL" : "KYC_DIDIT_WORKFLOW_ID";
    const settingsId = findPublishedVersion(workflowList.content, workflowId);
    const problem = (text: string): Workflow => ({ lifetimeMs: undefined, problems: [setupError(`${name}: ${text}`)] });
    if (settingsId === undefined)
      return problem("there is no published workflow with this id; publish it, or correct the setting");
    const response = await get(`/v3/workflows/${settingsId}/`);
    if (response.status !== 200) {
      isComplete = false;
      return problem("the workflow cannot be read");
    }
    return readWorkflow(response.content, name, usesPhoto);
  };
  const video = await read(api.config.workflowId, false);
  const still = api.config.workflowIdStill ? await read(api.config.workflowIdStill, true) : undefined;
  return { value: isComplete ? { video, still } : undefined, problems: [...video.problems, ...(still?.problems ?? [])] };
}
