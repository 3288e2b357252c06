import { runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startWebhooks } from "./service.ts";

await runService("webhooks", readConfig, startWebhooks);
