import { withCommonWords } from "../../pages/words.ts";
import { ar } from "./ar.ts";
import { en } from "./en.ts";
import { fr, type Words } from "./fr.ts";

/** All texts of the verification pages. A missing text fails the type check. */
export const words = withCommonWords<Words>({ fr, ar, en });
