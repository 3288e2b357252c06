/**
 * The longest a gateway may believe what identity told it of a key, from the moment it asked. The
 * same in every version and setting: identity waits this long before it says that access was taken
 * away, since it does not know what another replica granted; no gateway believes anything longer.
 */
export const keyLeaseMsMax = 500;
