import { runMigrateCommand } from "@amana/database";
import { database } from "./orm.ts";

await runMigrateCommand("payments", database);
