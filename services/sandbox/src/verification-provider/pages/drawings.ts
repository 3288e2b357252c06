import { Html } from "@amana/pages";

const drawing = (content: string) =>
  new Html(
    `<svg class="drawing" viewBox="0 0 64 48" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false" data-drawing>${content}</svg>`,
  );

/** Outlines of the objects to hold before the camera. */
export const drawings = {
  front: drawing(
    '<rect x="6" y="8" width="52" height="32" rx="4"/><circle cx="19" cy="20" r="4"/><path d="M12 32c1-4 4-6 7-6s6 2 7 6M34 18h16M34 25h16M34 32h9"/>',
  ),
  back: drawing('<rect x="6" y="8" width="52" height="32" rx="4"/><path d="M6 16h52M14 26h36M14 33h36"/>'),
  passport: drawing(
    '<rect x="16" y="4" width="32" height="40" rx="3"/><circle cx="32" cy="19" r="7"/><path d="M25 19h14M32 12c-3 4-3 10 0 14M32 12c3 4 3 10 0 14M24 35h16"/>',
  ),
  face: drawing('<circle cx="32" cy="17" r="9"/><path d="M14 44c2-10 9-15 18-15s16 5 18 15"/>'),
};
