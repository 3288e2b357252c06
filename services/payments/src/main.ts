import { createLogger, runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startPayments } from "./service.ts";

const logger = createLogger("payments", process.env["LOG_LEVEL"]);

await runService(logger, async () => {
  const service = await startPayments(readConfig(), logger);
  logger.info({ url: service.url }, "serving");
  return service;
});
