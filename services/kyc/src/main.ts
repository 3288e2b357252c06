import { runService } from "@amana/service-host";
import { kyc } from "./service.ts";

await runService(kyc);
