import type { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { businessOf, type Implementation } from "@amana/rpc";
import { sleep } from "@amana/runtime";
import type { SqlEntityManager } from "@mikro-orm/postgresql";
import type { Context } from "../context.ts";
import { kycApplicationNotFound } from "../kyc-application/kyc-application.errors.ts";
import {
  type KycApplicationRow,
  kycApplicationView,
  toKycApplicationMessage,
} from "../kyc-application/kyc-application.message.ts";
import { linkOf } from "../kyc-application/link.ts";
import { syncApplication } from "../kyc-application/sync-application.ts";

/** Longer than this the caller does not wait for the provider; what it says is still recorded. */
const refreshWaitMs = 3_000;
const refreshTimeoutMs = 15_000;

/**
 * The stored application. One that may still change is refreshed from the provider first, at most once in ten seconds,
 * unless what is stored is enough.
 */
export const getKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.getKycApplication> =>
  async (request, call) => {
    const businessId = businessOf(call.caller);
    const em = context.orm.em.fork() as SqlEntityManager;
    let row = await kycApplicationView.read(em, businessId, request.id);
    if (!row) throw kycApplicationNotFound();
    if (!request.stored && mayStillChange(row) && (await mayRefresh(em, businessId, row.id))) {
      const { id } = row;
      const refreshing = syncApplication(context, id, refreshTimeoutMs).catch((error: unknown) => {
        context.logger.warn({ err: error, application_id: id }, "application could not be refreshed");
      });
      await Promise.race([refreshing, sleep(refreshWaitMs)]);
      row = (await kycApplicationView.read(em, businessId, id)) ?? row;
    }
    return toKycApplicationMessage(row, linkOf(context, row));
  };

/** Spares the busiest reads, those of finished applications, the turn below. */
const mayStillChange = ({ status, verdict }: KycApplicationRow) =>
  status !== "EXPIRED" && status !== "CANCELED" && (status !== "COMPLETED" || verdict === "NEEDS_REVIEW");

/** Takes the turn to ask the provider, for all replicas together. Without a next check there is nothing to find out. */
async function mayRefresh(em: SqlEntityManager, businessId: string, id: string): Promise<boolean> {
  const rows = await em.execute(
    `update kyc_application set refreshed_at = now() where business_id = ? and id = ? and next_check_at is not null
       and (refreshed_at is null or refreshed_at < now() - interval '10 seconds') returning id`,
    [businessId, id],
  );
  return rows.length > 0;
}
