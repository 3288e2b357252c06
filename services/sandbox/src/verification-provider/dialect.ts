import type { Reason, ReasonCode } from "./vocabulary.ts";

/** Protocols of applications: Amana's own protocol ("port") and the vendors' APIs. */
export type Dialect = "port" | "didit" | "sumsub";

/**
 * Returns the protocol of an application. The form of the application's id determines the protocol.
 * Therefore the table `kyc_callback` needs no column for the protocol.
 */
export function dialectOf(providerId: string): Dialect {
  if (providerId.startsWith("ver_")) return "port";
  return providerId.includes("-") ? "didit" : "sumsub";
}

/** Fields that only applications at a vendor have. They contain no names of persons. */
export interface VendorData {
  /** Didit: group id of the workflow. Sumsub: name of the level. */
  readonly workflowOrLevel: string;
  /** Names of the profile's fields, in the vendor's spelling. */
  readonly profileNames: readonly string[];
  readonly reviews: readonly VendorReview[];
  /**
   * The session (Didit) or the applicant (Sumsub) was deleted, by the vendor or by a call of kyc.
   */
  readonly isDeleted?: true;
  /** Sumsub: the applicant is deactivated, so no operation on it is permitted. */
  readonly isDeactivated?: true;
}

/** A change of the status at the vendor, or a note. */
export interface VendorReview {
  readonly actor: "CONSOLE_USER" | "API_KEY" | "SYSTEM";
  readonly kind: "STATUS_UPDATED" | "NOTE_ADDED";
  readonly from: string;
  readonly to: string;
  readonly atMs: number;
}

/**
 * Returns the text of a personal field in a vendor's responses. Tests check that the text does not
 * reach the logs, the database or the events of kyc.
 */
export const canary = (field: string): string => `canary-${field}`;

/** Returns the response with the fields that a tester overrides. Null removes a field. */
export function overrideFields(
  response: Readonly<Record<string, unknown>>,
  answer: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const fields = Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, value ?? undefined]));
  return { ...response, ...fields };
}

export const codesOf = (reasons: readonly Reason[]): readonly ReasonCode[] => reasons.map(({ code }) => code);
