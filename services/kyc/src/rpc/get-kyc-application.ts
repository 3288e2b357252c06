import type { KycApplicationService } from "@amana/contracts/kyc/v1/kyc_application_service_pb";
import { acquireThrottle } from "@amana/jobs";
import { type Implementation, requireBusiness } from "@amana/rpc";
import { waitAtMost } from "@amana/runtime";
import type { Context } from "../context.ts";
import { kycApplicationNotFound } from "../kyc-application/kyc-application.errors.ts";
import {
  type KycApplicationRow,
  kycApplicationView,
  toKycApplicationMessage,
} from "../kyc-application/kyc-application.message.ts";
import { linkOf } from "../kyc-application/link.ts";
import { syncApplication } from "../kyc-application/sync-application.ts";

/**
 * Maximum time for which a request waits for the provider. If the state arrives later, it is still
 * recorded.
 */
const refreshWaitMs = 3_000;
const refreshTimeoutMs = 15_000;
/**
 * Condition for a read at the provider: a check is planned. No change is expected for other
 * applications.
 */
const refreshable = { table: "kyc_application", column: "refreshed_at", where: "next_check_at is not null" };

/**
 * Returns an application. If the application may change, first reads it at the provider, at most
 * once in ten seconds.
 */
export const getKycApplication =
  (context: Context): Implementation<typeof KycApplicationService.method.getKycApplication> =>
  async (request, call) => {
    const businessId = requireBusiness(call.caller);
    const { em } = context.orm;
    let row = await kycApplicationView.read(em, businessId, request.id);
    if (!row) throw kycApplicationNotFound();
    if (!request.stored && mayStillChange(row) && (await acquireThrottle(em.fork(), refreshable, businessId, row.id))) {
      const { id } = row;
      const refresh = syncApplication(context, id, refreshTimeoutMs).catch((error: unknown) => {
        context.logger.warn({ err: error, application_id: id }, "application could not be refreshed");
      });
      await waitAtMost(refreshWaitMs, refresh);
      row = (await kycApplicationView.read(em, businessId, id)) ?? row;
    }
    return toKycApplicationMessage(row, linkOf(context, row));
  };

/**
 * Returns false for finished applications. For these, this check saves the query of
 * `acquireThrottle`.
 */
const mayStillChange = ({ status, verdict }: KycApplicationRow) =>
  status !== "EXPIRED" && status !== "CANCELED" && (status !== "COMPLETED" || verdict === "NEEDS_REVIEW");
