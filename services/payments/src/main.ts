import { runService } from "@amana/service";
import { payments } from "./service.ts";

await runService(payments);
