/**
 * Returns whether an Accept header (RFC 9110, section 12.5.1) prefers a PDF to the default type of
 * the response. A header without application/pdf does not.
 */
export function acceptsPdf(accept: string | undefined, defaultType: "text/html" | "application/json"): boolean {
  const weights = new Map(
    (accept ?? "")
      .slice(0, 1_000)
      .toLowerCase()
      .split(",")
      .map((range) => {
        const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
        const weight = parameters.map((parameter) => /^q=([01](?:\.\d{0,3})?)$/.exec(parameter)?.[1]).find(Boolean);
        return [type, Number(weight ?? 1)] as const;
      }),
  );
  const pdf = weights.get("application/pdf") ?? 0;
  return pdf > 0 && pdf >= (weights.get(defaultType) ?? 0);
}
