import { AccountService } from "@amana/contracts/clients/v1/account_service_pb";
import { BeneficiaryService } from "@amana/contracts/clients/v1/beneficiary_service_pb";
import { ClientService } from "@amana/contracts/clients/v1/client_service_pb";
import { OnboardingService } from "@amana/contracts/clients/v1/onboarding_service_pb";
import { serveFrom } from "@amana/rpc";
import type { Service } from "@amana/service-host";
import { type Config, readConfig } from "./config.ts";
import { kyc } from "./consumers/kyc.ts";
import { type Context, createContext } from "./context.ts";
import { database } from "./orm.ts";
import * as rpcs from "./rpc/index.ts";

export const clients: Service<Config, Context> = {
  name: "clients",
  database,
  readConfig,
  createContext,
  rpcServices: (context) => [
    serveFrom(ClientService, rpcs, context),
    serveFrom(OnboardingService, rpcs, context),
    serveFrom(BeneficiaryService, rpcs, context),
    serveFrom(AccountService, rpcs, context),
  ],
  topicHandlers: (context) => [kyc(context)],
};
