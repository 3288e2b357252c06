import { type Body, isObject, isWebAddress } from "../checks.ts";

/**
 * Changes that a tester makes to the vendors' configurations. They are lost when the process ends.
 */
export interface KycSetup {
  /** Base URL of callbacks, without the vendor's name. If undefined, vendors send no callbacks. */
  callbackUrl: string | undefined;
  /** Fields that override the configuration of each workflow; null removes a field. */
  diditWorkflow: Readonly<Record<string, unknown>>;
  /** Fields that override the configuration of each level. */
  sumsubLevel: Readonly<Record<string, unknown>>;
  /** Fields that override the configuration of the webhook at both vendors. */
  webhook: Readonly<Record<string, unknown>>;
}

const names = ["callback_url", "didit_workflow", "sumsub_level", "webhook"];

/** Applies a tester's settings. Returns an error text if the input is invalid. */
export function changeSetup(setup: KycSetup, body: Body): string | undefined {
  const { callback_url: url, didit_workflow: workflow, sumsub_level: level, webhook } = body;
  for (const value of [workflow, level, webhook]) {
    if (value !== undefined && !isObject(value)) return "didit_workflow, sumsub_level and webhook must be objects.";
  }
  const unknown = Object.keys(body).find((name) => !names.includes(name));
  if (unknown) return `${unknown} is not a setting. Use ${names.join(", ")}.`;
  if (url !== undefined && !isWebAddress(url)) return "callback_url must be an http or https address.";
  if (url !== undefined) setup.callbackUrl = url;
  if (isObject(workflow)) setup.diditWorkflow = workflow;
  if (isObject(level)) setup.sumsubLevel = level;
  if (isObject(webhook)) setup.webhook = webhook;
  return undefined;
}
