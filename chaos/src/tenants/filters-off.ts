/**
 * Removes the tenant filters from all SQL statements of the process that preloads this module with
 * `node --import`. With "?keep-for-all-tenants" after the file name, statements that run for all
 * tenants keep their filters. Services have no setting that removes filters, and images do not
 * contain this file.
 */
import { allTenants, currentTenant } from "@amana/runtime";
import pg from "pg";

if (process.env["NODE_ENV"] === "production") throw new Error("tenant filters can be removed only in tests, not in production");

const filter = /(?:\w+\.|"\w+"\.)?"?business_id"? = \$\d+/g;
const keepsForAllTenants = new URL(import.meta.url).search === "?keep-for-all-tenants";
const withoutFilters = (text: string) =>
  keepsForAllTenants && currentTenant() === allTenants ? text : text.replaceAll(filter, "($& or true)");

type Query = (this: pg.Client, config: string | { text?: string }, ...args: unknown[]) => unknown;
const query = pg.Client.prototype.query as Query;
pg.Client.prototype.query = function (this: pg.Client, config: Parameters<Query>[0], ...args: unknown[]) {
  if (typeof config === "string") return query.call(this, withoutFilters(config), ...args);
  if (config.text !== undefined) Object.assign(config, { text: withoutFilters(config.text) });
  return query.call(this, config, ...args);
} as typeof pg.Client.prototype.query;
