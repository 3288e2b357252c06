import { startTallyFolding } from "@amana/database";
import type { Service } from "@amana/service";
import { accountTally } from "./account/queries.ts";
import { beneficiaryTally } from "./beneficiary/queries.ts";
import { clientTally } from "./client/queries.ts";
import { type Config, readConfig } from "./config.ts";
import { kyc } from "./consumers/kyc.ts";
import type { Context } from "./context.ts";
import { database } from "./orm.ts";
import { rpcServices } from "./rpc/index.ts";

/** What the clients service is made of. */
export const clients: Service<Config, Context> = {
  name: "clients",
  database,
  readConfig,
  createContext: ({ config: { autoApprove, institution, currencies }, orm, logger, clock }) => ({
    orm,
    logger,
    clock,
    autoApprove,
    institution,
    currencies,
  }),
  rpcServices,
  consumptions: (context) => [kyc(context)],
  jobs: ({ orm, logger }) => [startTallyFolding(orm, [clientTally, beneficiaryTally, accountTally], logger)],
};
