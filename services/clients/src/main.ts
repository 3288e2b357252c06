import { runService } from "@amana/service";
import { clients } from "./service.ts";

await runService(clients);
