import type { KycApplication, ListKycApplicationsQuery } from "@amana/client";
import { kycStatuses, kycVerdicts } from "@amana/public-api/names";
import { type Command, Option } from "commander";
import { confirm } from "../../ask.ts";
import { type Columns, localTime } from "../../print.ts";
import { apiCommand, timeFrom, uuidFrom, wordsFrom } from "../api-command.ts";
import type { ApiOptions } from "../connect.ts";
import { type ListOptions, showList, showOne, withListOptions } from "../show.ts";

const columns: Columns<KycApplication> = {
  ID: ({ id }) => id,
  STATUS: ({ status }) => status,
  VERDICT: ({ verdict }) => verdict,
  "EXTERNAL ID": { of: ({ external_id }) => external_id, min: 8, spare: 2 },
  CREATED: { of: ({ created_at }) => localTime(created_at), spare: 1 },
  REASONS: { of: ({ reason_codes }) => reason_codes.map(({ code }) => code).join(" "), min: 8, spare: 3 },
};

interface Filters extends ListOptions {
  readonly status?: NonNullable<ListKycApplicationsQuery["status"]>;
  readonly verdict?: NonNullable<ListKycApplicationsQuery["verdict"]>;
  readonly client?: string;
  readonly externalId?: string;
  readonly from?: string;
  readonly to?: string;
}

interface ReviewOptions extends ApiOptions {
  readonly outcome: "APPROVED" | "REJECTED";
  readonly note: string;
}

export function kyc(program: Command): void {
  const noun = program.command("kyc").description("list, show, review: applications for verification");
  withListOptions(
    apiCommand<Filters>(
      noun,
      "list",
      { says: "a business's applications, newest first", example: "kyc list --verdict NEEDS_REVIEW", key: ["business"] },
      (api, { status, verdict, client, externalId, from, to, ...options }) =>
        showList(api, options, { columns, none: "No applications found." }, (page) =>
          api.amana.kycApplications.list(
            {
              ...page,
              ...(status && { status }),
              ...(verdict && { verdict }),
              ...(client && { client_id: client }),
              ...(externalId && { external_id: externalId }),
              ...(from && { created_from: from }),
              ...(to && { created_to: to }),
            },
            api.call(),
          ),
        ),
    ),
  )
    .addOption(new Option("--status <status>").choices(kycStatuses))
    .addOption(new Option("--verdict <verdict>", "NEEDS_REVIEW waits for a person").choices(kycVerdicts))
    .option("--client <id>", "of this client", uuidFrom)
    .option("--external-id <id>", "yours for the applicant", wordsFrom)
    .option("--from <time>", "created then or later", timeFrom)
    .option("--to <time>", "created before", timeFrom);
  apiCommand(
    noun,
    "show <id>",
    {
      says: "one application; the link to it is left out, because whoever has it can submit",
      example: "kyc show 0199…",
      key: ["business"],
    },
    async ({ amana, call }, options, id: string) => {
      const { link_url: _, ...application } = await amana.kycApplications.get(id, call());
      showOne(application, options);
    },
  );
  apiCommand<ReviewOptions>(
    noun,
    "review <id>",
    {
      says: "decides an application, of any business, whose verdict is NEEDS_REVIEW",
      example: 'kyc review 0199… --outcome APPROVED --note "same person, seen in the office"',
      key: ["operator"],
      ask: (id) => `kyc show ${id} (with the business's key)`,
      asksFirst: true,
    },
    async ({ amana, call }, { outcome, note, ...options }, id: string) => {
      await confirm(`The application ${id} becomes ${outcome}, for good, and its business is told. Go on?`, options);
      showOne(await amana.kycApplications.review(id, { outcome, note }, call()), options);
    },
  )
    .addOption(new Option("--outcome <outcome>").choices(["APPROVED", "REJECTED"]).makeOptionMandatory())
    .requiredOption("--note <text>", "why, for the audit trail", wordsFrom);
}
