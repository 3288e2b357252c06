import type { Command } from "commander";
import { confirm } from "../../confirm.ts";
import { parseText } from "../../parsers.ts";
import { apiCommand } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";

const statusCommand = (id = "") => `onboarding status ${id} (with the business's key)`;

export function onboarding(program: Command): void {
  const group = program.command("onboarding").description("show, approve or decline the onboarding of a client");
  apiCommand(
    group,
    "status <client-id>",
    {
      summary: "show the onboarding status of a client without the link, which is a secret",
      example: "onboarding status 0199…",
      key: ["business"],
    },
    async ({ amana, requestOptions }, _options, id: string) => {
      const { kyc_link: _, ...status } = await amana.onboarding.getStatus(id, requestOptions());
      return status;
    },
  );
  const decisions = [
    ["approve", "APPROVED", "This is final."],
    ["decline", "KYC_DECLINED", "A newer application of the client can change the status."],
  ] as const;
  for (const [verb, status, effect] of decisions) {
    apiCommand<ApiOptions & { readonly reason?: string }>(
      group,
      `${verb} <client-id>`,
      {
        summary: `${verb} a client whose onboarding is at PENDING_APPROVAL; the status becomes ${status}`,
        example: `onboarding ${verb} 0199…`,
        key: ["operator"],
        statusCommand,
        needsConfirmation: true,
      },
      async ({ amana, requestOptions }, { reason, ...options }, id: string) => {
        await confirm(`Set the onboarding of client ${id} to ${status}? ${effect}`, options);
        return await amana.onboarding[verb](id, { reason }, requestOptions());
      },
    ).option("--reason <text>", "reason in the audit trail", parseText);
  }
}
