import type { Context } from "../context.ts";
import type { ReceivedCalls } from "../received-calls.ts";
import { type Application, objectOf } from "./application.ts";
import type { Applications } from "./applications.ts";
import type { Callbacks } from "./callbacks.ts";

/** What the calls of the provider work with. */
export interface Provider extends Context {
  readonly applications: Applications;
  readonly callbacks: Callbacks;
  readonly calls: ReceivedCalls;
}

/** The object of the port as its calls answer it; callbacks leave out the link. */
export const objectWithLink = ({ publicUrl }: Context, application: Application) => ({
  link_url: `${publicUrl()}/verify/${application.linkToken}`,
  ...objectOf(application),
});
