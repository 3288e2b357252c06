import { request } from "undici";

export type ApiCaller = ReturnType<typeof apiCaller>;
export type Answer = Awaited<ReturnType<ApiCaller>>;

/** A caller of the public API with one key, as a business's own server would write it. */
export function apiCaller(baseUrl: string, key: string) {
  return async (
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ) => {
    const answer = await request(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}), ...headers },
      body: typeof body === "object" ? JSON.stringify(body) : (body ?? null),
      headersTimeout: 45_000,
    });
    const text = await answer.body.text();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: text ? (JSON.parse(text) as Record<string, unknown>) : {},
      /** The body as it came. */
      text,
    };
  };
}
