import { createLogger, runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startIdentity } from "./service.ts";

const logger = createLogger("identity", process.env["LOG_LEVEL"]);

await runService(logger, async () => {
  const service = await startIdentity(readConfig(), logger);
  logger.info({ url: service.url }, "serving");
  return service;
});
