/** Other texts name nothing and must not reach a uuid column, where PostgreSQL would take them for an error. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
