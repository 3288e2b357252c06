import { readObject, readToken } from "../read-values.ts";
import { createProblems, type ProviderSetup, setupError, setupWarning } from "../setup.ts";
import { startTimeBudget } from "../time-budget.ts";
import { causeOf, type SetupProblem } from "../verification-provider.ts";
import type { SumsubApi } from "./sumsub-api.ts";
import type { SumsubConfig } from "./sumsub-config.ts";

const documentsOf = { both: ["PASSPORT", "ID_CARD"], id_card: ["ID_CARD"], passport: ["PASSPORT"] } as const;

/**
 * Returns the id of the level with the given name, or undefined if the list contains no such level.
 */
function findLevel(content: unknown, name: string): string | undefined {
  const list = readObject(content);
  const items = Array.isArray(list["items"]) ? list["items"] : readObject(list["list"])["items"];
  const level = (Array.isArray(items) ? items : []).map(readObject).find((item) => item["name"] === name);
  return readToken(level?.["id"]);
}

/**
 * Returns a problem for each requirement that the level does not meet
 * (docs.sumsub.com/docs/verification-levels). The level must accept exactly the documents `types`.
 * `setting` is the setting that contains the level's name.
 */
function checkLevel(content: unknown, setting: string, types: readonly string[], usesPhoto: boolean): SetupProblem[] {
  const fields = readObject(content);
  const { problems, require, advise } = createProblems(`${setting}: `);
  const { docSets } = readObject(fields["requiredIdDocs"]);
  const sets = (Array.isArray(docSets) ? docSets : []).map(readObject);
  const identities = sets.filter((set) => set["idDocSetType"] === "IDENTITY");
  const selfies = sets.filter((set) => set["idDocSetType"] === "SELFIE");
  require(fields["applicantType"] === "individual", "the level must be for individuals");
  const listed = identities[0]?.["types"];
  const accepted = Array.isArray(listed)
    ? listed
        .map((type) => (typeof type === "string" ? type : ""))
        .toSorted()
        .join(" and ")
    : "";
  const expected = types.toSorted().join(" and ");
  require(identities.length === 1 && accepted === expected, `the level needs one identity step that accepts exactly ${expected}`);
  const video = usesPhoto ? "photoRequired" : "passiveLiveness";
  require(selfies.length === 1 && selfies[0]?.["videoRequired"] === video, `the level needs one selfie step with ${video}`);
  require(fields["websdkNext"] !== false, "switch the level to the new WebSDK (websdkNext)");
  advise(
    identities[0]?.["videoRequired"] === "docapture",
    "set the capture mode of the identity step to docapture, so that no file is uploaded",
  );
  advise(fields["ongoingAml"] !== true, "switch ongoing AML monitoring off, because its later results are not used");
  return problems;
}

/** Reads the configured levels and lists their problems. */
export async function readSetup(api: SumsubApi, timeoutMs: number): Promise<ProviderSetup<true>> {
  const get = (path: string) => api.get("kyc_probe", `/resources/applicants/-/levels${path}`, startTimeBudget(timeoutMs));
  const levelList = await get("");
  if (levelList.status === 403 || levelList.status === 404) {
    // The token has no permission to read levels. This problem is only a warning, because kyc also
    // checks the level name of each applicant.
    return { value: true, problems: [setupWarning(`the levels cannot be read (status ${levelList.status})`)] };
  }
  if (levelList.status !== 200) {
    return { value: undefined, problems: [setupError(`the levels cannot be read (${causeOf(api.toFailure(levelList))})`)] };
  }
  const problems: SetupProblem[] = [];
  let isComplete = true;
  for (const { name, setting, types, usesPhoto } of levelsOf(api.config)) {
    const id = findLevel(levelList.content, name);
    if (id === undefined) {
      problems.push(setupError(`${setting}: there is no level with this name; create it, or correct the setting`));
      continue;
    }
    const level = await get(`/${encodeURIComponent(id)}`);
    if (level.status === 200) problems.push(...checkLevel(level.content, setting, types, usesPhoto));
    else if (level.status === 403 || level.status === 404) {
      problems.push(setupWarning(`${setting}: the level cannot be read (status ${level.status})`));
    } else {
      isComplete = false;
      problems.push(setupError(`${setting}: the level cannot be read`));
    }
  }
  return { value: isComplete ? true : undefined, problems };
}

const levelsOf = (config: SumsubConfig) =>
  (["video", "still"] as const).flatMap((kind) =>
    (["both", "id_card", "passport"] as const).flatMap((documents) => {
      const name = config[kind][documents];
      const setting = `KYC_SUMSUB_LEVEL${documents === "both" ? "" : `_${documents.toUpperCase()}`}${kind === "still" ? "_STILL" : ""}`;
      return name === undefined ? [] : [{ name, setting, types: documentsOf[documents], usesPhoto: kind === "still" }];
    }),
  );
