import { runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startIdentity } from "./service.ts";

await runService("identity", readConfig, startIdentity);
