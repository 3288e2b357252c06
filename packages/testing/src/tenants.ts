import { allTenants, forTenant } from "@amana/runtime";

/** Returns a function that runs `work` for all tenants, as jobs and consumers do. */
export const forAllTenants =
  <Args extends unknown[], Result>(work: (...args: Args) => Result) =>
  (...args: Args): Result =>
    forTenant(allTenants, () => work(...args));
