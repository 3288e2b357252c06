import type { KycApplication, ListKycApplicationsQuery, ReviewKycApplicationBody } from "@amana/client";
import { kycStatuses, kycVerdicts } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { confirm } from "../../confirm.ts";
import { parseText, parseTime, parseUuid } from "../../parsers.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { listCommand } from "../list-command.ts";

const columns: Columns<KycApplication> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  VERDICT: ({ verdict }) => verdict,
  "EXTERNAL ID": { cellOf: ({ external_id }) => external_id, minWidth: 8, omitOrder: 2 },
  CREATED: { cellOf: ({ created_at }) => localTime(created_at), omitOrder: 1 },
  REASONS: { cellOf: ({ reason_codes }) => reason_codes.map(({ code }) => code).join(" "), minWidth: 8, omitOrder: 3 },
};

interface Filters extends Pick<ListKycApplicationsQuery, "status" | "verdict"> {
  readonly client?: string;
  readonly externalId?: string;
  readonly from?: string;
  readonly to?: string;
}

export function kyc(program: Command): void {
  const group = program.command("kyc").description("list, show or review identity verification applications");
  listCommand<KycApplication, Filters>(
    group,
    "list",
    {
      summary: "list applications, newest first",
      example: "kyc list --verdict NEEDS_REVIEW",
      key: ["business"],
      columns,
      emptyText: "No applications found.",
    },
    ({ amana, requestOptions }, page, { status, verdict, client, externalId, from, to }) => {
      const filters = { status, verdict, client_id: client, external_id: externalId, created_from: from, created_to: to };
      return amana.kycApplications.list({ ...page, ...filters }, requestOptions());
    },
  )
    .addOption(new Option("--status <status>", "only this status").choices(kycStatuses))
    .addOption(new Option("--verdict <verdict>", "only this verdict").choices(kycVerdicts))
    .option("--client <id>", "only this client", parseUuid)
    .option("--external-id <id>", "only the applicant with this id in your system", parseText)
    .option("--from <time>", "only applications created at or after this time", parseTime)
    .option("--to <time>", "only applications created before this time", parseTime);
  apiCommand(
    group,
    "show <id>",
    {
      summary: "show an application without its link, which is a secret",
      example: "kyc show 0199…",
      key: ["business"],
    },
    async ({ amana, requestOptions }, _options, id: string) => {
      const { link_url: _, ...application } = await amana.kycApplications.get(id, requestOptions());
      return application;
    },
  );
  apiCommand<ApiOptions & ReviewKycApplicationBody>(
    group,
    "review <id>",
    {
      summary: "approve or reject an application of any business with the verdict NEEDS_REVIEW",
      example: 'kyc review 0199… --outcome APPROVED --note "same person, seen in the office"',
      key: ["operator"],
      statusCommand: (id) => `kyc show ${id} (with the business's key)`,
      needsConfirmation: true,
    },
    async ({ amana, requestOptions }, { outcome, note, ...options }, id: string) => {
      await confirm(`Set application ${id} to ${outcome}? This is final, and the business is notified.`, options);
      return await amana.kycApplications.review(id, { outcome, note }, requestOptions());
    },
  )
    .addOption(new Option("--outcome <outcome>", "your decision").choices(["APPROVED", "REJECTED"]).makeOptionMandatory())
    .requiredOption("--note <text>", "reason in the audit trail", parseText);
}
