import { runProcess } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startGateway } from "./service.ts";

await runProcess("gateway", readConfig, startGateway);
