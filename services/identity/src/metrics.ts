import { lowerCaseNames } from "@amana/contracts/enum-names";
import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { counter, gauge } from "@amana/runtime";

export const resolvedKeys = counter({
  name: "amana_resolved_keys_total",
  help: "API keys that gateways resolved, by state. unknown: no key has the requested hash",
  labels: { state: lowerCaseNames(KeyState) },
});

const unsealed = gauge({
  name: "amana_audit_unsealed_rows",
  help: "Rows of the audit trail that are not in the chain yet; at most 10000",
});

/** Depends only on the clock of this process, which the owner of the database cannot change. */
export const sealedUntil = gauge({
  name: "amana_audit_sealed_until_timestamp_seconds",
  help: "Unix time by this replica's clock before which all committed rows of the audit trail are sealed. If the time is older than a minute on all replicas, no replica has sealed the whole queue for a minute",
});

/** Updates the gauge of unsealed audit rows until the returned object is disposed. */
export const showUnsealed = (orm: Orm): Disposable =>
  showRows(orm, {
    text: `select count(*) as unsealed from (select from audit_unsealed limit ${rowsCountedMax}) q`,
    gauges: { unsealed },
  });
