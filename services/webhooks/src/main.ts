import { runService } from "@amana/service-host";
import { webhooks } from "./service.ts";

await runService(webhooks);
