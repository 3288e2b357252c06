/**
 * Returns a function that `compile` creates at the first call. If the gateway compiled the checks
 * and serializers of all routes at start, the start would use twice the CPU time.
 */
export function compileOnFirstUse<A extends unknown[], R>(compile: () => (...args: A) => R): (...args: A) => R {
  let compiled: ((...args: A) => R) | undefined;
  return (...args) => {
    compiled ??= compile();
    return compiled(...args);
  };
}
