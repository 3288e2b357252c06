// Optional script of the pages of payment links. Only the proof of work requires this script.

const widget = document.querySelector("altcha-widget");
// The translation script runs before this script and creates `$altcha`. The widget script runs
// after this script.
if (widget) globalThis.$altcha.algorithms.set("PBKDF2/SHA-256", () => new Worker("/assets/altcha-worker.js"));

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

for (const form of document.querySelectorAll("form[data-once]")) {
  const status = form.querySelector("[data-status]");
  let submitter = null;
  const setBusy = (isBusy) => form.setAttribute("aria-busy", String(isBusy));

  form.addEventListener("submit", (event) => {
    if (form.getAttribute("aria-busy") === "true") return event.preventDefault();
    const state = widget?.getState?.();
    if (widget && state !== "verified") {
      event.preventDefault();
      submitter = event.submitter;
      status.textContent = status.dataset.wait;
      if (state !== "verifying") widget.verify?.();
      return;
    }
    setBusy(true);
  });

  widget?.addEventListener("statechange", ({ detail }) => {
    if (submitter === null) return;
    if (detail.state === "error") {
      submitter = null;
      status.textContent = status.dataset.failed;
    } else if (detail.state === "verified") {
      const pressed = submitter;
      submitter = null;
      status.textContent = "";
      // The widget writes the solution into the form after this event.
      setTimeout(() => form.requestSubmit(pressed), 50);
    }
  });

  // When the buyer goes back, the browser can restore this page with the form still marked as busy.
  window.addEventListener("pageshow", () => setBusy(false));
}
