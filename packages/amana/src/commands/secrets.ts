import type { Command } from "commander";
import { type ChangeOptions, numberFrom, withChangeOptions } from "../options.ts";
import { printRows } from "../print.ts";
import { exitCodes, Refused } from "../refused.ts";
import { openBox, reencrypt } from "../secrets/reencrypt.ts";
import { type Rotation, rotations, type Step, told } from "../secrets/rotations.ts";
import { finishInterrupted, type RotationState, SettingsFiles } from "../secrets/settings-files.ts";
import { type Opened, withServices } from "../services.ts";
import { servicesHere } from "../services-here.ts";

/** Secrets, and how each is changed under load. */
export function secrets(program: Command): void {
  const noun = program.command("secrets").description("list, rotate: secrets, and how each is changed with nobody refused");
  noun
    .command("list")
    .description("those there are")
    .option("--json", "for programs")
    .addHelpText("after", "\nAsks nobody.\n\nExample:\n  amana secrets list")
    .action(list);
  withChangeOptions(
    noun
      .command("rotate <secret>")
      .description(
        "does the next step of a secret's rotation in the settings, after a look whether it may; then says whom to restart",
      ),
    "secrets rotate encryption-key --settings .env",
  )
    .requiredOption(
      "--settings <file...>",
      "all files with settings, as compose's .env, or folders with a file for each, as overlays/dev/*/secrets",
    )
    .option("--retention-hours <hours>", "how long Kafka keeps messages, where that is not seven days", numberFrom(0, 100_000))
    .option("--restarted", "every replica has been restarted, where this cannot be seen in the databases")
    .action(rotate);
}

function list({ json }: { json?: boolean }): void {
  const rows = [...rotations, ...Object.entries(told).map(([name, { summary }]) => ({ name, summary }))].map(
    ({ name, summary }) => ({ name, summary }),
  );
  type Row = (typeof rows)[number];
  printRows(rows, { SECRET: ({ name }: Row) => name, IS: ({ summary }: Row) => summary }, { json, none: "" });
}

interface RotateOptions extends ChangeOptions {
  readonly settings: string[];
  readonly retentionHours?: number;
  readonly restarted?: boolean;
}

async function rotate(name: string, { as, settings, retentionHours, restarted, ...selection }: RotateOptions): Promise<void> {
  const steps = told[name]?.steps;
  if (steps) {
    steps.forEach((step, i) => void process.stdout.write(`${i + 1}. ${step}\n`));
    return;
  }
  const rotation = rotations.find((each) => each.name === name);
  if (!rotation) throw new Refused(`There is no secret "${name}". See: amana secrets list`, exitCodes.usage);
  const interrupted = finishInterrupted(settings);
  if (interrupted !== undefined) {
    process.stdout.write(`The last step was interrupted, and is done now. It had to say:\n${interrupted}`);
    return;
  }
  const files = new SettingsFiles(settings);
  const state = files.stateOf(name);
  const step = rotation.steps[state.step];
  if (!step) throw new Refused(`The note on ${name} in the files is not one of this version's.`);

  const before = rotation.steps[state.step - 1];
  const open = <T>(needed: readonly string[], work: (opened: readonly Opened[]) => Promise<T>) =>
    withServices({ ...selection, needed }, work);
  if (before && !restarted) {
    requireSeen(before.restart);
    await open(before.restart, (opened) => requireRestarted(opened, before, state));
  }
  requireTime(step, state, retentionHours);
  const { reencrypts } = step;
  if (reencrypts) await open(reencrypts, (opened) => reencryptAll(opened, reencrypts, files, as));

  step.edit(files);
  const isLast = state.step + 1 === rotation.steps.length;
  const next = tellNext(rotation, step, state.step + 1, isLast);
  files.save(name, { step: isLast ? 0 : state.step + 1, at: new Date() }, next);
  process.stdout.write(next);
}

function requireSeen(names: readonly string[], opened?: readonly Opened[]): void {
  const seen = opened ? opened.map(({ service }) => service.name) : servicesHere();
  const unseen = names.filter((name) => !seen.includes(name));
  if (unseen.length === 0) return;
  throw new Refused(
    `Whether ${unseen.join(", ")} was restarted since the last step cannot be seen from here. If it was: --restarted.`,
  );
}

/** Every session of a process that has restarted began after the step. */
async function requireRestarted(opened: readonly Opened[], { restart }: Step, { at }: RotationState): Promise<void> {
  requireSeen(restart, opened);
  for (const { service, orm } of opened.filter(({ service }) => restart.includes(service.name))) {
    const [row] = await orm.em.fork().execute<{ count: number }[]>(
      `select count(*)::int as count from pg_stat_activity
       where usename = current_user and datname = current_database() and pid <> pg_backend_pid() and backend_start < ?`,
      [at],
    );
    if (row && row.count > 0) {
      throw new Refused(
        `${service.name} has ${row.count} sessions from before the last step (${at.toISOString()}): a replica was not restarted since. Restart its replicas one by one, and run this again.`,
      );
    }
  }
}

function requireTime({ afterHours }: Step, { at }: RotationState, retentionHours: number | undefined): void {
  if (afterHours === undefined) return;
  const hours = retentionHours ?? afterHours;
  const until = new Date(at.getTime() + hours * 3_600_000);
  if (until <= new Date()) return;
  throw new Refused(`Too early: what the old one made may still come until ${until.toISOString()}. Run this again then.`);
}

async function reencryptAll(
  opened: readonly Opened[],
  names: readonly string[],
  files: SettingsFiles,
  as: string,
): Promise<void> {
  const missing = names.filter((name) => !opened.some(({ service }) => service.name === name));
  if (missing.length > 0)
    throw new Refused(`The rows of ${missing.join(", ")} must be encrypted anew first, and its database does not answer.`);
  const [setting] = files.find((name) => name === "SECRET_ENCRYPTION_KEYS");
  const keyId = setting?.value.split(":")[0] ?? "";
  for (const at of opened.filter(({ service }) => names.includes(service.name))) {
    const count = await reencrypt(at, openBox(setting?.value ?? ""), keyId, as);
    process.stdout.write(`${at.service.name}: ${count} secrets were encrypted anew, with the key ${keyId}.\n`);
  }
}

function tellNext({ name, steps }: Rotation, { does, restart, besides }: Step, number: number, isLast: boolean): string {
  const next = isLast ? "That is the end of it." : `Then run this again: amana secrets rotate ${name} …`;
  return `Step ${number} of ${steps.length}: ${does}
Now restart the replicas of ${restart.join(", ")}, one after the other, with the settings as they are in the files.
${besides ? `${besides}\n` : ""}${next}\n`;
}
