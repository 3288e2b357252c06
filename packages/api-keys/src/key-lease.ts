/**
 * The longest a gateway may believe what identity told it of a key, counted from the moment it asked. Fixed for every version and
 * every setting: identity waits this long before it answers that access was taken away, since it cannot know what another replica
 * granted, and a gateway believes nothing for longer, whatever it is told.
 */
export const keyLeaseMsMax = 500;
