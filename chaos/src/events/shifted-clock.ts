/**
 * Preloaded by a service, it moves the wall clock of that process by the milliseconds that the file
 * CLOCK_OFFSET_FILE says, looked at ten times a second. The monotonic clock and timers go on.
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
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  apply: () => new RealDate(now()).toString(),
});
RealDate.prototype.constructor = globalThis.Date;
readOffset();
setInterval(readOffset, 100).unref();
