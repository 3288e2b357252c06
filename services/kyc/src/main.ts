import { runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startKyc } from "./service.ts";

await runService("kyc", readConfig, startKyc);
