import { createLogger, runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startKyc } from "./service.ts";

const logger = createLogger("kyc", process.env["LOG_LEVEL"]);

await runService(logger, async () => {
  const service = await startKyc(readConfig(), logger);
  logger.info({ url: service.url }, "serving");
  return service;
});
