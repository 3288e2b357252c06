import { checkConfiguredProviders, countByProvider, eraseApplicant } from "@amana/kyc/provider-commands";
import { SettingsError } from "@amana/runtime";
import type { Command } from "commander";
import { declareCommand } from "../../api/api-command.ts";
import { CommandError, exitCodes } from "../../command-error.ts";
import { confirm } from "../../confirm.ts";
import { type ChangeOptions, type CommonOptions, jsonHelp, withChangeOptions, withCommonOptions } from "../../options.ts";
import { print, printRows } from "../../print.ts";
import { auditActor } from "../audit-actor.ts";
import { withServices } from "../services.ts";

/** Adds commands for the accounts at verification providers (docs/kyc-providers.md). */
export function kycProvider(program: Command): void {
  const group = program
    .command("kyc-provider")
    .description("check the verification providers, count their applications, delete an applicant's data");
  group
    .command("check")
    .description("check the accounts at the current and the former providers; creates no application")
    .option("--json", jsonHelp)
    .addHelpText("after", `${settingsHelp}\n\nExample:\n  amana kyc-provider check`)
    .action(check);
  withCommonOptions(
    group.command("list").description("count open applications, all applications, and unconfirmed deletions for each provider"),
    "kyc-provider list",
  ).action(list);
  withChangeOptions(
    declareCommand(group, "erase <id>")
      .description("delete an applicant's data at the provider, after the application has ended")
      .requiredOption("--reason <text>", "reason for the audit trail")
      .option("--yes", "skip the confirmation (required without a terminal)")
      .addHelpText("after", settingsHelp),
    "kyc-provider erase 01a21cc8-5ebb-73d5-83fb-cd06eab6d5c6 --reason 'request of the applicant'",
  ).action(erase);
}

const settingsHelp =
  "\nConnects to the verification providers with the KYC_… settings in the environment\n(services/kyc/.env.example). Guide: docs/kyc-providers.md";

const settingsAdvice = "Set the settings of the kyc service in the environment (services/kyc/.env.example).";

async function check({ json }: { json?: boolean }): Promise<void> {
  const rows = await withSettings(() => checkConfiguredProviders());
  printRows(
    rows,
    {
      PROVIDER: ({ provider }) => provider,
      CHECK: ({ check: name }) => name,
      RESULT: ({ result }) => result,
      TEXT: ({ text }) => text,
    },
    { json },
  );
  if (rows.some(({ result }) => result === "failure")) process.exitCode = exitCodes.failed;
}

async function list({ json, ...selection }: CommonOptions): Promise<void> {
  const rows = await withServices({ ...selection, usableServices: ["kyc"] }, ([database]) => countByProvider(database.orm));
  printRows(
    rows,
    {
      PROVIDER: ({ provider }) => provider,
      OPEN: { cellOf: ({ open }) => open, alignRight: true },
      TOTAL: { cellOf: ({ total }) => total, alignRight: true },
      "DELETIONS TO CONFIRM": { cellOf: ({ erasuresRequested }) => erasuresRequested, alignRight: true },
    },
    { json, emptyText: "There are no applications." },
  );
}

type EraseOptions = ChangeOptions & { readonly reason: string; readonly yes?: boolean };

async function erase(id: string, { as, reason, json, yes, ...selection }: EraseOptions): Promise<void> {
  await confirm(`Delete the applicant's data of application ${id} at the provider? This cannot be undone.`, { yes });
  const result = await withServices({ ...selection, usableServices: ["kyc"] }, ([database]) =>
    withSettings(() => eraseApplicant(database.orm, id, { by: auditActor(as), reason })),
  );
  if ("text" in result) throw new CommandError(result.text);
  const texts = {
    erased: `The data was deleted at ${result.provider}.`,
    requested: `The applicant was deactivated at ${result.provider}, whose API cannot delete data. Request the deletion in the provider's dashboard. "amana kyc-provider list" counts the deletions that are not confirmed.`,
  };
  print(json ? JSON.stringify(result) : texts[result.kind]);
}

async function withSettings<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SettingsError) throw new CommandError(`${error.message}\n${settingsAdvice}`, exitCodes.usage);
    throw error;
  }
}
