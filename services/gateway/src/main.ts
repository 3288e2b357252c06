import { createLogger, runService } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { startGateway } from "./service.ts";

const logger = createLogger("gateway", process.env["LOG_LEVEL"]);

await runService(logger, () => {
  const config = readConfig();
  logger.level = config.logLevel;
  return startGateway(config, logger);
});
