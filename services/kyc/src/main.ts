import { runService } from "@amana/service";
import { kyc } from "./service.ts";

await runService(kyc);
