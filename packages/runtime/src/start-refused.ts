/** Why a process does not start, in words for whoever starts it: its message is shown as it is, without a stack. */
export class StartRefused extends Error {}
