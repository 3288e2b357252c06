import type { ApiCaller } from "@amana/dev-env/demo/api";
import type { Report } from "../report.ts";

/** Spellings of addresses that webhooks must reject even if loopback addresses are allowed. */
const forbiddenHosts = [
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "0xa9.0xfe.43518",
  "0251.0376.0251.0376",
  "169.254.169.254.",
  "１６９.２５４.１６９.２５４",
  "169。254。169。254",
  "[::ffff:a9fe:a9fe]",
  "[::ffff:169.254.169.254]",
  "[::169.254.169.254]",
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b:1::a9fe:a9fe]",
  "[2002:a9fe:a9fe::]",
  "[2001::a9fe:a9fe]",
  "0",
  "0.0.0.0",
  "[::]",
  "[::ffff:0:0]",
  "[::ffff:127.0.0.1]",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "100.64.0.1",
  "192.0.0.1",
  "192.0.2.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "[fe80::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fec0::1]",
  "[ff02::1]",
  "[100::1]",
  "[2001:db8::1]",
  "user@example.com",
  "user:password@127.0.0.1",
];

/**
 * Forbidden hosts. The program writes them into the database rows of registered endpoints. A
 * connection to any of these hosts reaches the forbidden server.
 */
export const changedHosts = [
  "0.0.0.0",
  "0",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
];

/** Checks that an endpoint with a forbidden host cannot be registered. */
export async function checkForbiddenHosts(call: ApiCaller, report: Report): Promise<void> {
  for (const host of forbiddenHosts) {
    const { status, text } = await call("POST", "/api/v1/webhook-endpoints", { url: `https://${host}/` });
    report.check(
      "an address that is not public is rejected",
      status === 400 || status === 422,
      () => `${host}: ${status} ${text}`,
    );
  }
}
