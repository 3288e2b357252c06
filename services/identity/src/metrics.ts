import { lowerCaseNames } from "@amana/contracts/enum-names";
import { KeyState } from "@amana/contracts/identity/v1/key_lease_service_pb";
import { counter } from "@amana/runtime";

export const resolvedKeys = counter({
  name: "amana_resolved_keys_total",
  help: "Keys that gateways asked about, by what they are; unknown ones are guesses or mistakes",
  labels: { state: lowerCaseNames(KeyState) },
});
