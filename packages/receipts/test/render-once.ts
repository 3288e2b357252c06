import { createPdfRenderer } from "../src/pdf-renderer.ts";
import { aReceipt } from "./a-receipt.ts";

// The renderer is not disposed. The process must end anyway.
await createPdfRenderer().render(aReceipt, "fr");
