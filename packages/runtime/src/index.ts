/** What every process needs: settings, logs, metrics, start and stop, time and identifiers. */
export { atMostEvery } from "./at-most-every.ts";
export { type EnvReader, type EnvSource, readEnv, SettingsError, StartRefused, settings } from "./env.ts";
export { faultPoint } from "./fault-point.ts";
export { inGroups } from "./groups.ts";
export { createLogger, type Logger, type LogLevel, readLogLevel } from "./logger.ts";
export { counter, gauge, histogram, labelsOf, onScrape, registry, renderMetrics, secondsSince, timed } from "./metrics.ts";
export { type MetricsAddress, readMetricsAddress } from "./metrics-server.ts";
export { Pause } from "./pause.ts";
export { everyHour, poll } from "./poll.ts";
export { readBytes, readText } from "./read-body.ts";
export { remember } from "./remember.ts";
export { runProcess } from "./run-process.ts";
export { backoffMs, dateOf, jitter, nextPause, sleep, waitAtMost, within } from "./time.ts";
export { currentTrace, inTrace, type Trace, traceIdOf } from "./trace.ts";
export { beginSpan, isTraced, recordSpan, type Span, startTracing, traced, unixMs } from "./tracing.ts";
export { readTracing } from "./tracing-settings.ts";
export { Turns } from "./turns.ts";
export { isUuid, randomHex, timeOfUuid, uuidv7 } from "./uuid.ts";
