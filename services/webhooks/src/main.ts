import { runService } from "@amana/service";
import { webhooks } from "./service.ts";

await runService(webhooks);
