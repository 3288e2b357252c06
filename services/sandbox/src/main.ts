import { createLogger, runService } from "@amana/runtime";
import { createSandbox } from "./app.ts";
import { readConfig, readLogLevel } from "./config.ts";

const logger = createLogger("sandbox", readLogLevel());

await runService(logger, async () => {
  const sandbox = await createSandbox(readConfig(), logger);
  logger.info({ url: sandbox.url }, "the sandbox answers here; nothing in it is real");
  return sandbox;
});
