/**
 * Returns a function that is compiled at its first call. A start that compiled the checks and the
 * serializers of all routes took twice the CPU time.
 */
export function compileOnFirstUse<A extends unknown[], R>(compile: () => (...args: A) => R): (...args: A) => R {
  let compiled: ((...args: A) => R) | undefined;
  return (...args) => {
    compiled ??= compile();
    return compiled(...args);
  };
}
