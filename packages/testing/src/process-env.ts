/** Environment for processes that a test starts: without the settings of this process. */
export const processEnv: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
};
