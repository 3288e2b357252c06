import type { Command } from "commander";
import { confirm } from "../../ask.ts";
import { apiCommand, wordsFrom } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { showOne } from "../show.ts";

const ask = (id = "") => `onboarding status ${id} (with the business's key)`;

/** An operator's last word on a verified client. */
export function onboarding(program: Command): void {
  const noun = program.command("onboarding").description("status, approve, decline: of a client");
  apiCommand(
    noun,
    "status <client-id>",
    {
      says: "how far a client's onboarding is, without the link, which is a secret",
      example: "onboarding status 0199…",
      key: ["business"],
    },
    async ({ amana, call }, options, id: string) => {
      const { kyc_link: _, ...status } = await amana.onboarding.getStatus(id, call());
      showOne(status, options);
    },
  );
  const decisions = [
    ["approve", "APPROVED, for good"],
    ["decline", "KYC_DECLINED, until a newer application of the client"],
  ] as const;
  for (const [verb, end] of decisions) {
    apiCommand<ApiOptions & { readonly reason?: string }>(
      noun,
      `${verb} <client-id>`,
      {
        says: `one at PENDING_APPROVAL becomes ${end}`,
        example: `onboarding ${verb} 0199…`,
        key: ["operator"],
        ask,
        asksFirst: true,
      },
      async ({ amana, call }, { reason, ...options }, id: string) => {
        await confirm(`The onboarding of the client ${id} becomes ${end}. Go on?`, options);
        showOne(await amana.onboarding[verb](id, reason ? { reason } : {}, call()), options);
      },
    ).option("--reason <text>", "for the audit trail", wordsFrom);
  }
}
