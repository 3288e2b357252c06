import { type Orm, rowsCountedMax, showRows } from "@amana/database";
import { counter, gauge, histogram } from "@amana/runtime";

const statuses = ["created", "opened", "submitted", "processing", "failed", "needs_review"] as const;

export const providerCalls = histogram({
  name: "amana_verification_provider_duration_seconds",
  help: "Duration of calls to the verification provider; unknown: no usable response",
  labels: { operation: ["create", "get", "cancel", "review", "erase", "events"], outcome: ["accepted", "refused", "unknown"] },
});

export const callbacks = counter({
  name: "amana_provider_callbacks_total",
  help: "Callbacks of the verification provider: genuine, forged (invalid signature), unreadable (signed, but not in the expected format), other_environment (from the vendor's test mode to a live deployment, or the reverse)",
  labels: { outcome: ["genuine", "forged", "unreadable", "other_environment"] },
});

const applications = gauge({
  name: "amana_kyc_applications",
  help: "Applications without a final result: created and opened wait for the applicant, submitted and processing for the provider, failed for another attempt, needs_review for an operator; at most 10000",
  labels: { status: statuses },
});

const oldest = gauge({
  name: "amana_kyc_applications_oldest_seconds",
  help: "Longest time since the last change of an application that has this status; 0 if there is none",
  labels: { status: statuses },
});

/**
 * Updates the gauges of open applications until disposed. Only applications with a planned check
 * are counted.
 */
export const showApplications = (orm: Orm): Disposable =>
  showRows(orm, {
    text: `select s.status, count(a.at) as applications, coalesce(extract(epoch from now() - min(a.at)), 0) as oldest
      from unnest($1::text[]) as s (status) left join (
        (select case status when 'COMPLETED' then 'needs_review' else lower(status) end as status, updated_at as at
         from kyc_application where next_check_at is not null order by next_check_at limit ${rowsCountedMax})
      ) a on a.status = s.status group by s.status`,
    values: [statuses],
    gauges: { applications, oldest },
  });
