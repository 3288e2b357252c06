import { type Html, html } from "@amana/pages";
import { form } from "../../pages/parts.ts";
import { drawings } from "./drawings.ts";
import { type FlowView, flowStep } from "./parts.ts";

type CaptureStep = "front" | "back" | "recording";

/** Returns the properties of a camera step: its drawing, camera, texts and form action. */
function captureOf({ application, words }: FlowView, step: CaptureStep) {
  const { document, recording } = application.steps;
  if (step === "recording") {
    const face = { action: "record", value: "recorded", facing: "user", drawing: drawings.face };
    if (recording === "still") return { ...face, kind: "photo", title: words.stillTitle, lead: words.stillText };
    return { ...face, kind: "video", title: words.videoTitle, lead: words.videoText };
  }
  const side = { action: "photo", value: step, facing: "environment", kind: "photo", lead: words.photoText };
  if (document === "passport") return { ...side, drawing: drawings.passport, title: words.passportTitle };
  return { ...side, drawing: drawings[step], title: step === "front" ? words.frontTitle : words.backTitle };
}

/** Renders the camera step. Without JavaScript or a camera, the form sends a sample picture. */
export function captureStep(view: FlowView, step: CaptureStep): Html {
  const { words } = view;
  const { action, value, kind, facing, drawing, title, lead } = captureOf(view, step);
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
