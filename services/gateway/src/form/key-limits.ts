import { Type } from "typebox";
import { canonicalCidr } from "../key-lease/allowed-ips.ts";
import { field } from "./field.ts";
import { timestamp } from "./fields.ts";

const networksMax = 50;
/** Length of the longest CIDR: IPv6 with an embedded IPv4 address and a prefix length. */
const charactersMax = 49;

/** The request fields for the limits of a new API key: an expiry and permitted networks. */
export const keyLimits = () => ({
  expires_at: Type.Optional(
    timestamp({
      description: "Time in the future at which the key expires. Without this field, the key does not expire.",
      examples: ["2099-12-31T23:59:59Z"],
    }),
  ),
  allowed_ips: Type.Optional(networks()),
});

const message = `must list 1 to ${networksMax} networks such as 203.0.113.0/24 or 2001:db8::/32`;

const networks = () => {
  const description =
    "Networks from which the key is accepted, as IPv4 or IPv6 addresses or CIDRs. Requests from other addresses are rejected with 403. Without this field, the key is accepted from all addresses.";
  const examples = ["203.0.113.0/24", "198.51.100.7", "2001:db8::/32"];
  const network = Type.String({ format: "cidr", maxLength: charactersMax, examples });
  return field(Type.Array(network, { minItems: 1, maxItems: networksMax, description }), {
    message,
    accepts: (texts: string[]) => {
      const invalidIndex = texts.findIndex((text) => canonicalCidr(text) === undefined);
      return invalidIndex < 0 || `${message}; item ${invalidIndex + 1} is not a network`;
    },
  });
};
