import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const root = join(import.meta.dirname, "..", "..", "..");
export const monitoring = join(root, "deploy", "monitoring");
export const runbooks = join(root, "docs", "runbooks");

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}
interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}
interface Dashboard {
  readonly uid: string;
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

const readRules = (file: string): Rule[] =>
  (parse(readFileSync(join(monitoring, file), "utf8")) as RuleFile).groups.flatMap(({ rules }) => rules);

export const recordings = readRules("rules.yaml");
export const alerts = readRules("alerts.yaml") as (Rule & { readonly alert: string })[];

const dashboardsDir = join(monitoring, "dashboards");
export const dashboards = readdirSync(dashboardsDir).map((file) => ({
  file,
  ...(JSON.parse(readFileSync(join(dashboardsDir, file), "utf8")) as Dashboard),
}));
/** Each expression in a dashboard. `place` has the file and the panel's title. */
export const panelQueries = dashboards.flatMap(({ file, panels }) =>
  panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ place: `${file}: ${title}`, expr }))),
);

/** Returns the file name of an alert's runbook. Example: service-down.md for ServiceDown. */
export const pageOf = (alert: string): string => `${alert.replaceAll(/(?!^)([A-Z])/g, "-$1").toLowerCase()}.md`;

/** Returns the metrics in an expression, with their label conditions. */
export function findMetrics(expr: string): { name: string; labels: Record<string, string[]> }[] {
  const selectors = [...expr.matchAll(/\b((?:amana|process|nodejs)_\w+|up|(?:api|webhooks):\w+:\w+)(?:\{([^}]*)\})?/g)];
  return selectors.map(([, name = "", matchers = ""]) => ({
    name,
    labels: Object.fromEntries(
      [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"([^"]*)"/g)].map(([, label = "", words = ""]) => [label, words.split("|")]),
    ),
  }));
}

/** Reads docs/metrics.md. Returns the labels of each metric, with the values of each label. */
export function readDocumentedMetrics(): Map<string, Readonly<Record<string, string>>> {
  const rows = readFileSync(join(root, "docs", "metrics.md"), "utf8").matchAll(/^\| `(\w+)` \| (\w+) \| (.*?) \| .* \|$/gm);
  return new Map(
    [...rows].flatMap(([, name = "", type = "", labels = ""]) => {
      const labelValues = Object.fromEntries(
        labels.split("; ").flatMap((label) => (label.includes(": ") ? [label.split(": ", 2) as [string, string]] : [])),
      );
      const suffixes = type === "histogram" ? ["", "_bucket", "_count", "_sum"] : [""];
      return suffixes.map((suffix) => [`${name}${suffix}`, labelValues] as const);
    }),
  );
}
