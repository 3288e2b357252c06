import { runProcess } from "@amana/runtime";
import { createSandbox } from "./app.ts";
import { readConfig } from "./config.ts";

await runProcess("sandbox", readConfig, createSandbox);
