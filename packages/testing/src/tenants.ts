import { allTenants, forTenant } from "@amana/runtime";

/** `work` as jobs and consumers do it: for all tenants. */
export const forAllTenants =
  <Given extends unknown[], Result>(work: (...given: Given) => Result) =>
  (...given: Given): Result =>
    forTenant(allTenants, () => work(...given));
