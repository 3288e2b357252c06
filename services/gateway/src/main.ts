import { runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startGateway } from "./service.ts";

await runService("gateway", readConfig, startGateway);
