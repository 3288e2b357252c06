import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..", "..", "..");
export const fileOf = (name: string): string => join(root, "services", name, "src", "repair.ts");

/** The services that are here: all of them, or the one of a container's image. */
export const servicesHere = (): string[] =>
  readdirSync(join(root, "services"))
    .filter((name) => existsSync(fileOf(name)))
    .sort();
