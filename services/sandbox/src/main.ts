import { runService } from "@amana/runtime";
import { createSandbox } from "./app.ts";
import { readConfig } from "./config.ts";

await runService("sandbox", readConfig, createSandbox);
