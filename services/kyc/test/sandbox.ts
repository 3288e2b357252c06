import { startSandboxProcess } from "@amana/testing";

export const providerToken = "s3cret-provider-token";
export const callbackSecret = "provider-callback-secret";

export interface Submission {
  readonly outcome: "approved" | "rejected" | "needs_review" | "failed";
  readonly reason_codes?: readonly string[];
  readonly document_type?: string;
  readonly document_expiry?: string;
  readonly nationality?: string;
  readonly aml_hit_count?: number;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly birth_date?: string;
  readonly hold_seconds?: number;
  readonly aml_cleared?: boolean;
  /** Fields that replace fields of the provider's response. A null value removes a field. */
  readonly answer?: Readonly<Record<string, unknown>>;
}

/** An application in the sandbox, with the calls and callbacks that the sandbox recorded. */
export interface SandboxApplication {
  readonly provider_id: string;
  readonly status: string;
  readonly sequence: number;
  readonly calls: readonly { readonly operation: string; readonly parameters: Readonly<Record<string, unknown>> }[];
  readonly callbacks: readonly { readonly state: string; readonly type: string }[];
}

/** Starts a sandbox process that simulates the verification provider, with its state in memory. */
export async function startSandbox(settings: Readonly<Record<string, string>> = {}) {
  const { control, ...sandbox } = await startSandboxProcess({
    KYC_PROVIDER_TOKEN: providerToken,
    KYC_CALLBACK_SECRET: callbackSecret,
    KYC_CALLBACK_RETRY_SECONDS: "0.2,0.5,1,2,5",
    LOG_LEVEL: "info",
    ...settings,
  });
  const actOnLink = (linkUrl: string | undefined, action: string, body: object = {}) =>
    control("POST", `kyc/${new URL(linkUrl ?? "").pathname.split("/").at(-1)}/${action}`, body);

  return {
    ...sandbox,
    open: (linkUrl: string | undefined) => actOnLink(linkUrl, "open"),
    submit: (linkUrl: string | undefined, submission: Submission) => actOnLink(linkUrl, "submit", submission),
    review: (linkUrl: string | undefined, outcome: string, by = "console") => actOnLink(linkUrl, "review", { outcome, by }),
    resubmit: (linkUrl: string | undefined) => actOnLink(linkUrl, "resubmit"),
    reverse: (linkUrl: string | undefined, outcome: string) => actOnLink(linkUrl, "reverse", { outcome }),
    deleteAtVendor: (linkUrl: string | undefined) => actOnLink(linkUrl, "delete"),
    setUp: (setup: object) => control("PUT", "kyc-setup", setup),
    expire: (linkUrl: string | undefined) => actOnLink(linkUrl, "expire"),
    application: (reference: string) => control<SandboxApplication>("GET", `kyc?reference=${reference}`),
  };
}
