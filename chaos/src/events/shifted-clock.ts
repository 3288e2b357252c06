/**
 * Shifts the wall clock of the process that preloads this module. The file CLOCK_OFFSET_FILE
 * contains the offset in milliseconds and is read ten times a second. The monotonic clock and
 * timers are not affected.
 */
import { readFileSync } from "node:fs";

const RealDate = Date;
const realNow = Date.now.bind(Date);
const file = process.env["CLOCK_OFFSET_FILE"] ?? "";
let offsetMs = 0;

const readOffset = () => {
  offsetMs = Number(readFileSync(file, "utf8"));
};
const now = () => realNow() + offsetMs;

RealDate.now = now;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
});
RealDate.prototype.constructor = globalThis.Date;
readOffset();
setInterval(readOffset, 100).unref();
