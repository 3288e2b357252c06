import { type Html, html } from "../../pages/html.ts";
import { form } from "../../pages/parts.ts";
import { drawings } from "./drawings.ts";
import { type FlowView, flowStep } from "./parts.ts";
import type { Step } from "./steps.ts";

interface Capture {
  readonly step: Step;
  readonly action: string;
  readonly value: string;
  readonly kind: "photo" | "video";
  readonly facing: "environment" | "user";
  readonly drawing: Html;
  readonly title: string;
  readonly lead: string;
}

export function photoStep(view: FlowView, side: "front" | "back"): Html {
  const { application, words } = view;
  const passport = application.steps.document === "passport";
  return capture(view, {
    step: side,
    action: "photo",
    value: side,
    kind: "photo",
    facing: "environment",
    drawing: passport ? drawings.passport : drawings[side],
    title: passport ? words.passportTitle : side === "front" ? words.frontTitle : words.backTitle,
    lead: words.photoText,
  });
}

export function recordingStep(view: FlowView): Html {
  const { application, words } = view;
  const still = application.steps.recording === "still";
  return capture(view, {
    step: "recording",
    action: "record",
    value: "recorded",
    kind: still ? "photo" : "video",
    facing: "user",
    drawing: drawings.face,
    title: still ? words.stillTitle : words.videoTitle,
    lead: still ? words.stillText : words.videoText,
  });
}

/** Without a script or a camera a sample takes the place of the picture, in the same form. */
function capture(view: FlowView, { step, action, value, kind, facing, drawing, title, lead }: Capture): Html {
  const { words } = view;
  const hidden = html`<input type="hidden" name="value" value="${value}">`;
  const [take, keep, sample, taken] =
    kind === "video"
      ? [words.film, words.keepVideo, words.sampleVideo, words.videoTaken]
      : [words.takePhoto, words.keepPhoto, words.samplePhoto, words.photoTaken];
  return flowStep(
    view,
    step,
    html`<h1>${title}</h1>
<p class="lead">${lead}</p>
<div data-camera="${kind}" data-facing="${facing}" data-denied="${words.cameraDenied}" data-missing="${words.cameraMissing}" data-filming="${words.filming}" data-taken="${taken}">
<div class="viewfinder">${drawing}
<video muted playsinline hidden data-live aria-label="${words.livePicture}"></video>
<canvas hidden data-picture role="img" aria-label="${words.takenPicture}"></canvas>
<video muted playsinline loop autoplay hidden data-playback aria-label="${words.takenVideo}"></video>
<span class="seconds" hidden data-seconds aria-hidden="true"></span></div>
<p class="capture-message" role="status" data-message></p>
<div class="actions">
<button type="button" class="primary" hidden data-open>${words.openCamera}</button>
<button type="button" class="primary" hidden data-take>${take}</button>
${form(view, action, keep, hidden, html`hidden data-keep`)}
<button type="button" class="secondary" hidden data-again>${words.again}</button>
${form(view, action, sample, hidden, html`data-pretend`)}
</div>
<p class="note">${words.staysHere}</p>
</div>`,
  );
}
