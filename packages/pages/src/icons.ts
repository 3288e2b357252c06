import { Html } from "./html.ts";

const icon = (path: string) =>
  new Html(
    `<svg class="icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="10"/>${path}</svg>`,
  );

/** Icons of states. Each icon has its own shape, so that colour is not the only difference. */
export const icons = {
  success: icon('<path d="m7.5 12.5 3 3 6-6.5"/>'),
  danger: icon('<path d="m8.5 8.5 7 7m0-7-7 7"/>'),
  warning: icon('<path d="M12 7v6m0 3.5v.01"/>'),
  waiting: icon('<path d="M12 6.5V12l3.5 2"/>'),
};

export type IconName = keyof typeof icons;
