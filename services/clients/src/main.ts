import { runService } from "@amana/service-host";
import { clients } from "./service.ts";

await runService(clients);
