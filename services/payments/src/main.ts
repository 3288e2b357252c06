import { runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startPayments } from "./service.ts";

await runService("payments", readConfig, startPayments);
