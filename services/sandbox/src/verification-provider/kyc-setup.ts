import { type Body, isObject, isText } from "../checks.ts";

/** Settings at the vendors that a tester changes while the sandbox runs. In memory only. */
export interface KycSetup {
  /** Base address of callbacks, without the vendor's name. Undefined: vendors send none. */
  callbackUrl: string | undefined;
  /** Fields laid over each workflow's configuration. */
  diditWorkflow: Readonly<Record<string, unknown>>;
  /** Fields laid over each level's configuration. */
  sumsubLevel: Readonly<Record<string, unknown>>;
  /** Fields laid over the webhook's configuration of both vendors. */
  webhook: Readonly<Record<string, unknown>>;
}

/** Applies a tester's settings. Returns a problem of the input, if any. */
export function changeSetup(setup: KycSetup, body: Body): string | undefined {
  const { callback_url: url, didit_workflow: workflow, sumsub_level: level, webhook } = body;
  for (const value of [workflow, level, webhook]) {
    if (value !== undefined && !isObject(value)) return "didit_workflow, sumsub_level and webhook must be objects.";
  }
  if (url !== undefined && !isText(url)) return "callback_url must be a text.";
  if (isText(url)) setup.callbackUrl = url;
  if (isObject(workflow)) setup.diditWorkflow = workflow;
  if (isObject(level)) setup.sumsubLevel = level;
  if (isObject(webhook)) setup.webhook = webhook;
  return undefined;
}
