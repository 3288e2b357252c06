import { lowerCaseNames } from "@amana/contracts/enum-names";
import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { counter, gauge } from "@amana/runtime";

export const resolvedKeys = counter({
  name: "amana_resolved_keys_total",
  help: "Keys that gateways asked about, by what they are; unknown ones are guesses or mistakes",
  labels: { state: lowerCaseNames(KeyState) },
});

const unsealed = gauge({
  name: "amana_audit_unsealed_rows",
  help: "Rows of the audit trail that the chain does not hold yet; 10000 at most",
});

/** Depends only on this process's clock and rounds, which the database's owner cannot change. */
export const sealedUntil = gauge({
  name: "amana_audit_sealed_until_timestamp_seconds",
  help: "Time, by this replica's clock, before which all committed rows of the audit trail are sealed. More than a minute ago: no replica seals",
});

/** Shows what of the audit trail is not sealed, until disposed. */
export const showUnsealed = (orm: Orm): Disposable =>
  showRows(orm, {
    name: "audit_unsealed",
    text: `select count(*) as unsealed from (select from audit_unsealed limit ${rowsCountedMax}) q`,
    gauges: { unsealed },
  });
