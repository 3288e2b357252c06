/** The words after the script's name, without the "--" of npm users, which pnpm passes on. */
export function ownArguments(): string[] {
  return process.argv.slice(2).filter((word) => word !== "--");
}
