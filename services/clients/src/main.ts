import { runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startClients } from "./service.ts";

await runService("clients", readConfig, startClients);
