import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { alerts, findMetrics, monitoring, pageOf, panelQueries, readDocumentedMetrics, recordings, runbooks } from "./rules.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const sourceFiles = () => globSync("{services,packages}/*/src/**/*.ts", { cwd: root }).map((file) => join(root, file));

test("the alert rules link each alert to a runbook with meaning, impact, check, fix and escalation, and each runbook belongs to an alert", () => {
  expect(readdirSync(runbooks).toSorted()).toEqual(alerts.map(({ alert }) => pageOf(alert)).toSorted());
  for (const { alert, labels, annotations } of alerts) {
    const page = readFileSync(join(runbooks, pageOf(alert)), "utf8");
    const parts = [
      "\\*\\*Meaning\\.\\*\\* ",
      "\\*\\*Impact\\.\\*\\* ",
      "## Check\n\n1\\. ",
      "## Fix\n\n1\\. ",
      "## Escalate\n\n",
    ];
    expect(page).toMatch(new RegExp(`^# ${alert}\n\n${parts.join("\\S[^]+\n\n")}\\S`));
    expect(annotations?.["runbook"]).toBe(`docs/runbooks/${pageOf(alert)}`);
    expect(annotations?.["summary"]).toBeTruthy();
    expect(["page", "ticket"]).toContain(labels?.severity);
  }
});

test("the unit tests of the Prometheus rules contain each alert", () => {
  const tests = readFileSync(join(monitoring, "tests.yaml"), "utf8");
  expect(alerts.filter(({ alert }) => !tests.includes(`alertname="${alert}"`))).toEqual([]);
});

const pages = readdirSync(runbooks).map((file) => ({ place: file, expr: readFileSync(join(runbooks, file), "utf8") }));
const queries = [
  ...recordings.map(({ record = "", expr }) => ({ place: record, expr })),
  ...alerts.map(({ alert, expr }) => ({ place: alert, expr })),
  ...panelQueries,
  ...pages,
];

test("the runbook of the alert LogAlert lists the message of every log line with `alert: true`", () => {
  const page = readFileSync(join(runbooks, "log-alert.md"), "utf8");
  const messages = sourceFiles().flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\balert: \w+[^"]*?\},\s*"([^"]+)"/g)].map(([, message = ""]) => message),
  );
  expect(messages).toContain("refund needs an operator's decision");
  expect(messages.filter((message) => !page.includes(`"${message}"`))).toEqual([]);
});

test("docs/metrics.md documents each metric, label and label value in the rules, dashboards and runbooks", () => {
  const documented = readDocumentedMetrics();
  const recorded = new Set(recordings.map(({ record }) => record));
  const unknownNames = queries.flatMap(({ place, expr }) =>
    findMetrics(expr).flatMap(({ name, labels }) => {
      if (name === "up" || recorded.has(name)) return [];
      const documentedLabels = documented.get(name);
      if (!documentedLabels) return [`${place}: ${name}`];
      return Object.entries(labels).flatMap(([label, usedValues]) => {
        const values = label === "job" || label === "le" ? undefined : (documentedLabels[label] ?? "");
        const isClosed = values !== undefined && !values.startsWith("the ");
        const unknown = isClosed ? usedValues.filter((value) => !values.split(", ").includes(value)) : [];
        return unknown.map((value) => `${place}: ${name} has no ${label}="${value}"`);
      });
    }),
  );
  expect(unknownNames).toEqual([]);
});

test("Prometheus expressions use max, not sum, for metrics that every replica reports from the database", () => {
  const sumOfDatabaseMetric =
    /sum(?: by \([^)]*\))? \((?:amana_(?:outbox_(?:waiting|oldest)|dead_letters|due_(?:rows|oldest)|deliveries_|refunds|payments_unconfirmed|kyc_applications))/;
  expect(queries.filter(({ expr }) => sumOfDatabaseMetric.test(expr))).toEqual([]);
});
