/** Why a process does not start, in words for whoever starts it: shown without a stack. */
export class StartRefused extends Error {}
