import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MigrateOptions, migrate, tenantMigrations } from "@amana/database";
import { ensureDatabases } from "@amana/dev-env/databases";
import { startPostgres } from "@amana/dev-env/postgres";
import { createLogger } from "@amana/runtime";
import { startTestService } from "@amana/service/testing";
import pg from "pg";
import { clients } from "../../../services/clients/src/service.ts";
import { webhooks } from "../../../services/webhooks/src/service.ts";

/** With row-level security, and without it: then nothing is sent for it either. */
export const sides = ["without", "with"] as const;
export type Side = (typeof sides)[number];
export type Stage = Awaited<ReturnType<typeof setStage>>;

/** Runs an operation a number of times, for one business after the other. */
export type Operation = (side: Side, times: number) => Promise<void>;

const logger = createLogger("bench", "silent");
const password = "bench";

/** The databases of clients and webhooks and the services themselves, in this process, once each way. */
export async function setStage(stack: AsyncDisposableStack) {
  const dir = await mkdtemp(join(tmpdir(), "amana-bench-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const postgres = await startPostgres({ dataDir: join(dir, "postgres"), durable: false, log: () => {} });
  stack.defer(() => postgres.stop());
  const names = sides.flatMap((side) => [`clients_${side}`, `webhooks_${side}`]);
  const { urls, ownerUrls } = await ensureDatabases(postgres.superuserUrl, names, password);

  const prepare = async (name: string, side: Side, database: Omit<MigrateOptions, "url">) => {
    const [url, ownerUrl] = [urls[`${name}_${side}`] ?? "", ownerUrls[`${name}_${side}`] ?? ""];
    await migrate({ url: ownerUrl, ...database }, logger);
    const owner = new pg.Client({ connectionString: ownerUrl });
    await owner.connect();
    stack.defer(() => owner.end());
    if (side === "without") await owner.query(withoutPolicies);
    return { url, owner };
  };
  /** As before there were policies: a service does not name tenants that lacks these migrations. */
  const databaseOf = (side: Side, database: Omit<MigrateOptions, "url">) =>
    side === "with"
      ? database
      : { ...database, migrations: database.migrations.filter((one) => !tenantMigrations.includes(one)) };

  const start = async (side: Side) => {
    const [clientsData, webhooksData] = [
      await prepare("clients", side, clients.database),
      await prepare("webhooks", side, webhooks.database),
    ];
    return {
      clients: {
        ...clientsData,
        service: stack.use(
          await startTestService(
            { ...clients, database: databaseOf(side, clients.database) },
            { databaseUrl: clientsData.url, logger },
          ),
        ),
      },
      webhooks: {
        ...webhooksData,
        service: stack.use(
          await startTestService(
            { ...webhooks, database: databaseOf(side, webhooks.database) },
            {
              databaseUrl: webhooksData.url,
              logger,
              background: true,
              settings: {
                SECRET_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
                ALLOW_INSECURE_WEBHOOKS: "true",
              },
            },
          ),
        ),
      },
    };
  };
  return { without: await start("without"), with: await start("with") };
}

const withoutPolicies = `do $$ declare kept regclass; begin
  for kept in select oid from pg_class where relrowsecurity loop
    execute format('alter table %s disable row level security', kept);
  end loop;
end $$`;
