import { migrate } from "@amana/database";
import { createLogger } from "@amana/runtime";
import { readConfig } from "./config.ts";
import { database } from "./orm.ts";

const logger = createLogger("clients", process.env["LOG_LEVEL"]);
await migrate({ url: readConfig().databaseUrl, ...database }, logger);
