import { isDeepStrictEqual } from "node:util";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type EntityClass, EntitySchema } from "@mikro-orm/postgresql";
import { type FieldOf, valueReader } from "./request-value.ts";

/** What a request changes: its fields that are called as properties of the entity. Null clears. */
export type Changes<E, R extends DescMessage> = { [F in Exclude<FieldOf<R>, "id"> & keyof E]?: E[F] };

/**
 * Reads what a request changes: the fields that it names, and null for those whose public names are
 * in its field `cleared`. Only what the entity can be without is cleared.
 */
export function changesOf<E extends object, R extends DescMessage>(
  entity: EntityClass<E>,
  request: R,
): (given: MessageShape<R>) => Changes<E, R> {
  const properties: Record<string, { nullable?: boolean }> = EntitySchema.REGISTRY.get(entity)?.meta.properties ?? {};
  const fields = request.fields
    .filter(({ localName }) => localName !== "id" && localName in properties)
    .map((field) => ({ ...field, read: valueReader(field), isClearable: properties[field.localName]?.nullable === true }));
  return (given) => {
    const { cleared = [], ...named } = given as unknown as Record<string, unknown> & { cleared?: readonly string[] };
    const changes: Record<string, unknown> = {};
    for (const { localName, name, read, isClearable } of fields) {
      const value = isClearable && cleared.includes(name) ? null : read(named[localName]);
      if (value !== undefined) changes[localName] = value;
    }
    return changes as Changes<E, R>;
  };
}

/** Whether any of the named fields would become different, as a reader sees it. */
export function hasChanges<T extends object>(target: T, changes: Partial<T>): boolean {
  return Object.entries(changes).some(([name, value]) => !isDeepStrictEqual(target[name as keyof T] ?? null, value ?? null));
}

/** Sets the named fields and says whether any of them became different. */
export function assignChanges<T extends object>(target: T, changes: Partial<T>): boolean {
  if (!hasChanges(target, changes)) return false;
  Object.assign(target, changes);
  return true;
}
