import { audit } from "./audit/audit.ts";
import { database } from "./database/database.ts";
import { endpoints } from "./endpoints/endpoints.ts";
import { events } from "./events/events.ts";
import { keys } from "./keys/keys.ts";
import { limits } from "./limits/limits.ts";
import { links } from "./links/links.ts";
import { matrix } from "./matrix/matrix.ts";
import { models } from "./models/models.ts";
import { overload } from "./overload/overload.ts";
import type { Program } from "./program.ts";
import { refunds } from "./refunds/refunds.ts";
import { rolling } from "./rolling/rolling.ts";
import { rotation } from "./rotation/rotation.ts";
import { secrets } from "./secrets/secrets.ts";
import { slowClients } from "./slow-clients/slow-clients.ts";
import { tenants } from "./tenants/tenants.ts";
import { verdicts } from "./verdicts/verdicts.ts";

/** All programs by their name on the command line. */
export const programs: Readonly<Record<string, Program>> = {
  audit,
  database,
  endpoints,
  events,
  keys,
  limits,
  links,
  matrix,
  models,
  overload,
  refunds,
  rolling,
  rotation,
  secrets,
  "slow-clients": slowClients,
  tenants,
  verdicts,
};
