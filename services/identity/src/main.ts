import { runService } from "@amana/service-host";
import { identity } from "./service.ts";

await runService(identity);
