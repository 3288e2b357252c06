/** The words after the script's name. pnpm passes on the "--" that npm users put before options; it is not one of them. */
export function ownArguments(): string[] {
  return process.argv.slice(2).filter((word) => word !== "--");
}
