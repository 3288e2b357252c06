import { type Command, InvalidArgumentError, Option } from "commander";
import { parseAmount } from "../../parsers.ts";
import { apiCommand } from "../api-command.ts";
import type { CertifyOptions } from "../certify/certify.ts";

export function certify(program: Command): void {
  apiCommand<CertifyOptions>(
    program,
    "certify",
    {
      summary: "check the payment pages against the processor's acceptance list, and write the evidence",
      example: "certify --language all --out ./evidence",
      key: ["business"],
      helpNote:
        "Creates payment links of the business and pays them with test cards, then deactivates the links. Use the sandbox or the\n" +
        "processor's test platform, never a deployment with real cards. After an interruption, run the command again to continue.",
    },
    // The browser library is large, so other commands do not load it.
    async (api, options) => (await import("../certify/certify.ts")).certify(api, options),
  )
    .option("--out <folder>", "folder of the evidence", "amana-evidence")
    .addOption(new Option("--language <language>", "language of the pages").choices(["fr", "ar", "en", "all"]).default("fr"))
    .option("--amount <amount>", "amount of each payment", parseAmount, "2500.00")
    .option("--cards <file>", "JSON file with the cards of the processor's test platform (default: the published test cards)")
    .option("--by-hand", "open a visible browser, in which you enter the cards on the processor's form")
    .option("--email <address>", "address to which receipts are sent (default: no e-mail is sent)")
    .option("--only <points>", "check only these points, comma-separated (default: all)", parsePoints)
    .option("--again", "also repeat points that passed or did not apply in an earlier run")
    .option("--chromium <path>", "path of Chromium or Chrome (default: CHROMIUM_PATH, or the usual installation paths)");
}

function parsePoints(text: string): readonly string[] {
  const ids = text.split(",").map((id) => id.trim());
  if (ids.some((id) => !/^[a-z0-9-]+$/.test(id)))
    throw new InvalidArgumentError("It must be a list of point names, for example checkout,frame.");
  return ids;
}
