import { createLogger, runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startWebhooks } from "./service.ts";

const logger = createLogger("webhooks", process.env["LOG_LEVEL"]);

await runService(logger, async () => {
  const service = await startWebhooks(readConfig(), logger);
  logger.info({ url: service.url }, "serving");
  return service;
});
