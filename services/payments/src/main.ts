import { runService } from "@amana/service-host";
import { payments } from "./service.ts";

await runService(payments);
