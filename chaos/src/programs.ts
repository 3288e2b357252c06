import { auditProgram } from "./audit/audit.ts";
import { databaseProgram } from "./database/database.ts";
import { endpointsProgram } from "./endpoints/endpoints.ts";
import { eventsProgram } from "./events/events.ts";
import { keysProgram } from "./keys/keys.ts";
import { limitsProgram } from "./limits/limits.ts";
import { linksProgram } from "./links/links.ts";
import { matrixProgram } from "./matrix/matrix.ts";
import { modelsProgram } from "./models/models.ts";
import { overloadProgram } from "./overload/overload.ts";
import type { Program } from "./program.ts";
import { refundsProgram } from "./refunds/refunds.ts";
import { rollingProgram } from "./rolling/rolling.ts";
import { rotationProgram } from "./rotation/rotation.ts";
import { secretsProgram } from "./secrets/secrets.ts";
import { slowClientsProgram } from "./slow-clients/slow-clients.ts";
import { tenantsProgram } from "./tenants/tenants.ts";
import { verdictsProgram } from "./verdicts/verdicts.ts";

/** All programs by their name on the command line. */
export const programs: Readonly<Record<string, Program>> = {
  audit: auditProgram,
  database: databaseProgram,
  endpoints: endpointsProgram,
  events: eventsProgram,
  keys: keysProgram,
  limits: limitsProgram,
  links: linksProgram,
  matrix: matrixProgram,
  models: modelsProgram,
  overload: overloadProgram,
  refunds: refundsProgram,
  rolling: rollingProgram,
  rotation: rotationProgram,
  secrets: secretsProgram,
  "slow-clients": slowClientsProgram,
  tenants: tenantsProgram,
  verdicts: verdictsProgram,
};
