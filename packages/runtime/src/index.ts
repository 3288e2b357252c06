/** Basics of all processes: settings, logs, metrics, start and stop, time and identifiers. */

export { createBatcher } from "./concurrency/batcher.ts";
export { atMostEvery, atMostEveryForKey, setBounded } from "./concurrency/cache.ts";
export { FairSemaphore } from "./concurrency/fair-semaphore.ts";
export { currentOperation, inOperation } from "./concurrency/operation.ts";
export { allTenants, currentTenant, forTenant } from "./concurrency/tenant.ts";
export { backoffMs, dateOf, jitter, Pause, scheduledPause, sleep, waitAtMost, withTimeout } from "./concurrency/time.ts";
export { type EnvReader, type EnvSource, readEnv, SettingsError, StartupError, settings } from "./config/env.ts";
export { faultPoint } from "./lifecycle/fault-point.ts";
export { poll, startHourlyJobs } from "./lifecycle/poll.ts";
export { runProcess, stopTimeoutMs } from "./lifecycle/run-process.ts";
export { StalledSockets } from "./lifecycle/stalled-sockets.ts";
export { withCallMetrics } from "./observability/call-metrics.ts";
export { createLogger, type Logger, readLogLevel } from "./observability/logger.ts";
export { counter, gauge, histogram, labelsOf, onScrape, renderMetrics, secondsSince } from "./observability/metrics.ts";
export { readMetricsAddress } from "./observability/metrics-server.ts";
export type { Span } from "./observability/span.ts";
export { currentTrace, inTrace, type Trace, traceIdOf } from "./observability/trace.ts";
export { beginSpan, inSpan, startTracing } from "./observability/tracing.ts";
export { readTracing } from "./observability/tracing-settings.ts";
export { GrowingBuffer } from "./values/growing-buffer.ts";
export { readText } from "./values/read-body.ts";
export { readRetryAfterMs } from "./values/retry-after.ts";
export { isUuid, timeMsOfUuid, uuidv7 } from "./values/uuid.ts";
