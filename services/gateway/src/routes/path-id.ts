import { isUuid } from "@amana/runtime";
import { type Static, Type } from "typebox";
import { problems } from "../problems.ts";

export const PathId = Type.Object({ id: Type.String({ format: "uuid" }) });

/** The id in a path. One that is no UUID names nothing, like any unknown one. */
export function pathId({ id }: Static<typeof PathId>): string {
  if (!isUuid(id)) throw problems.notFound();
  return id.toLowerCase();
}
