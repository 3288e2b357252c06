import { isDeepStrictEqual } from "node:util";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { EntityClass } from "@mikro-orm/postgresql";
import { type FieldOf, valueReader } from "./request-value.ts";
import { metaOf } from "./view.ts";

/** Changes that a request makes to an entity, by property name. Null clears the property. */
export type Changes<E, R extends DescMessage> = { [F in Exclude<FieldOf<R>, "id"> & keyof E]?: E[F] };

/**
 * Returns a function that reads the changes from a request. The changes contain each field that has
 * a value in the request. A field becomes null if the request lists the field's public name in
 * `cleared`. Only nullable properties can be cleared.
 */
export function changesOf<E extends object, R extends DescMessage>(
  entity: EntityClass<E>,
  request: R,
): (message: MessageShape<R>) => Changes<E, R> {
  const properties: Record<string, { nullable?: boolean }> = metaOf(entity).properties;
  const fields = request.fields
    .filter(({ localName }) => localName !== "id" && localName in properties)
    .map((field) => ({ ...field, read: valueReader(field), isClearable: properties[field.localName]?.nullable === true }));
  return (message) => {
    const { cleared = [], ...values } = message as unknown as Record<string, unknown> & { cleared?: readonly string[] };
    const changes: Record<string, unknown> = {};
    for (const { localName, name, read, isClearable } of fields) {
      const value = isClearable && cleared.includes(name) ? null : read(values[localName]);
      if (value !== undefined) changes[localName] = value;
    }
    return changes as Changes<E, R>;
  };
}

/**
 * Returns whether any of the changes differs from the value in the target. Null and undefined count
 * as equal.
 */
export function hasChanges<T extends object>(target: T, changes: Partial<T>): boolean {
  return Object.entries(changes).some(([name, value]) => !isDeepStrictEqual(target[name as keyof T] ?? null, value ?? null));
}

/** Assigns the changes to the target. Returns whether a value of the target changed. */
export function assignChanges<T extends object>(target: T, changes: Partial<T>): boolean {
  if (!hasChanges(target, changes)) return false;
  Object.assign(target, changes);
  return true;
}
