import { createLogger, runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startClients } from "./service.ts";

const logger = createLogger("clients", process.env["LOG_LEVEL"]);

await runService(logger, async () => {
  const service = await startClients(readConfig(), logger);
  logger.info({ url: service.url }, "serving");
  return service;
});
