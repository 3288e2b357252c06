import { runService } from "@amana/service";
import { identity } from "./service.ts";

await runService(identity);
