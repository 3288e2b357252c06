import { request } from "undici";

export type ApiCaller = ReturnType<typeof apiCaller>;
export type ApiResponse = Awaited<ReturnType<ApiCaller>>;

/** Returns a function that calls the public API with a key and returns the parsed response. */
export function apiCaller(baseUrl: string, key: string) {
  return async (
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: object | string,
    headers: Record<string, string> = {},
  ) => {
    const response = await request(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body ? { "content-type": "application/json" } : {}), ...headers },
      body: typeof body === "object" ? JSON.stringify(body) : (body ?? null),
      headersTimeout: 45_000,
    });
    const text = await response.body.text();
    return {
      status: response.statusCode,
      headers: response.headers,
      body: isJson(response.headers["content-type"]) ? (JSON.parse(text) as Record<string, unknown>) : {},
      /** The unparsed body. */
      text,
    };
  };
}

/**
 * Returns whether the content type is JSON. Other responses have no body, an HTML page or JSON
 * Lines.
 */
const isJson = (contentType: string | string[] | undefined) => /^application\/(problem\+)?json\b/.test(String(contentType ?? ""));
