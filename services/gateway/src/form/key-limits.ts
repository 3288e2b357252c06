import { Type } from "typebox";
import { canonicalCidr } from "../key-lease/allowed-ips.ts";
import { field } from "./field.ts";
import { timestamp } from "./fields.ts";

const networksMax = 50;
/** The longest CIDR there is has 49 characters. */
const charactersMax = 49;

/** Until when and from where a new key may be used. */
export const keyLimits = () => ({
  expires_at: Type.Optional(
    timestamp({ description: "In the future. Absent: the key has no end.", examples: ["2099-12-31T23:59:59Z"] }),
  ),
  allowed_ips: Type.Optional(networks()),
});

const message = `must list 1 to ${networksMax} networks such as 203.0.113.0/24 or 2001:db8::/32`;

const networks = () => {
  const description = "CIDRs, of IPv4 or IPv6: calls from elsewhere are refused with 403. Absent: from anywhere.";
  const examples = ["203.0.113.0/24", "198.51.100.7", "2001:db8::/32"];
  const network = Type.String({ format: "cidr", maxLength: charactersMax, examples });
  return field(Type.Array(network, { minItems: 1, maxItems: networksMax, description }), {
    message,
    accepts: (texts: string[]) => {
      const wrong = texts.findIndex((text) => canonicalCidr(text) === undefined);
      return wrong < 0 || `${message}; number ${wrong + 1} is none`;
    },
  });
};
