import type { Context } from "../context.ts";
import type { ReceivedCalls } from "../received-calls.ts";
import { type Application, toApiObject } from "./application.ts";
import type { Applications } from "./applications.ts";
import type { Callbacks } from "./callbacks.ts";
import type { KycSetup } from "./kyc-setup.ts";

/** Dependencies of the provider's calls. */
export interface Provider extends Context {
  readonly applications: Applications;
  readonly callbacks: Callbacks;
  readonly calls: ReceivedCalls;
  readonly setup: KycSetup;
}

/**
 * Returns the application as API responses contain it. Callbacks contain the same object without
 * the link.
 */
export const objectWithLink = ({ publicUrl }: Context, application: Application) => ({
  link_url: `${publicUrl()}/verify/${application.linkToken}`,
  ...toApiObject(application),
});
