import { allTenants, currentTenant, isUuid } from "@amana/runtime";
import type pg from "pg";
import { PipelineClient } from "./pipeline-client.ts";

interface TenantQueryConfig extends pg.QueryConfig {
  /** Business of the statement, or allTenants. Default: the current tenant. */
  readonly tenant?: string;
}

const setting = "amana.business";
const setTenantName = "amana_for_tenants";
/** Sets the tenant. Returns no row, so that the result of the statement itself does not change. */
const setTenant = `select 1 where set_config('${setting}', $1, true) is null`;

/**
 * Session option for a session without a tenant. Statements return no rows until a tenant is set.
 */
export const noTenantOption = `-c ${setting}=`;

/**
 * A connection that sets the tenant of each transaction and statement in PostgreSQL, without an
 * additional round trip: with the `begin` of a transaction, or in the message of any other
 * statement, which PostgreSQL runs in one implicit transaction. The setting ends with the
 * transaction or statement, so that the next user of the connection does not inherit it.
 */
export class TenantClient extends PipelineClient {
  override begin(text: string): void {
    super.begin(text);
    this.#setTenant(tenantOf(""));
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver's method has the same overloads
  override query(config: any, values?: any, callback?: any): any {
    if (!this.isInTransaction() && typeof config.submit !== "function") this.#setTenant(tenantOf(config));
    return super.query(config, values, callback);
  }

  #setTenant(tenant: string | undefined): void {
    if (tenant === undefined) return;
    this.defer({ name: setTenantName, text: setTenant, values: [tenant === allTenants ? allTenants : `{${tenant}}`] });
  }
}

/**
 * Returns the tenant of a statement, or undefined. Ignores a tenant that is not a UUID, because
 * PostgreSQL could read it as several business ids.
 */
function tenantOf(config: TenantQueryConfig | string): string | undefined {
  const tenant = (typeof config === "string" ? undefined : config.tenant) ?? currentTenant();
  return tenant !== undefined && (tenant === allTenants || isUuid(tenant)) ? tenant : undefined;
}
