/** What a process that a test starts may see of this one's environment: no setting. */
export const processEnv: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
};
