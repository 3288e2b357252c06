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

const oldestUnsealed = gauge({
  name: "amana_audit_unsealed_oldest_seconds",
  help: "For how long the first of these has waited; 0 for none. More than a minute: nobody seals",
});

/** Shows what of the audit trail is not sealed, until disposed. */
export const showUnsealed = (orm: Orm): Disposable =>
  showRows(orm, {
    name: "audit_unsealed",
    text: `select count(*) as unsealed, greatest(0, coalesce(extract(epoch from now() - min(since)), 0)) as oldest
      from (select since from audit_unsealed limit ${rowsCountedMax}) q`,
    gauges: { unsealed, oldest: oldestUnsealed },
  });
