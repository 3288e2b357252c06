import { Initial } from "./0001-initial.ts";

export const migrations = [{ name: "0001-initial", class: Initial }];
