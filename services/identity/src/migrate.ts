import { migrate } from "@amana/database";
import { createLogger, readEnv } from "@amana/runtime";
import { database } from "./orm.ts";

const logger = createLogger("identity", process.env["LOG_LEVEL"]);
// Of the role that owns the database; nothing else of the service's settings is needed here.
const { url } = readEnv((env) => ({ url: env.string("DATABASE_URL") }));
await migrate({ url, ...database }, logger);
