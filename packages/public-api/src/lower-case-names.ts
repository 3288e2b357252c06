import { enumNames } from "@amana/contracts/enum-names";

/** An enum's names as lists of lower-case words show them. */
export const lowerCaseNames = <E extends object>(enumeration: E) =>
  enumNames(enumeration).map((name) => name.toLowerCase() as Lowercase<typeof name>);
