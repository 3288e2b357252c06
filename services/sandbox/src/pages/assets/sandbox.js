// Optional script. It groups digits, counts down, waits for the end of a check, follows the link to
// the shop, and ignores a second click on a button. Pages work without it.

function keepFormat(input, format) {
  input?.addEventListener("input", (event) => {
    if (event.inputType?.startsWith("delete")) return;
    const digitsBefore = input.value.slice(0, input.selectionStart).replace(/\D/g, "").length;
    input.value = format(input.value.replace(/\D/g, ""));
    let position = 0;
    for (let digits = 0; position < input.value.length && digits < digitsBefore; position += 1) {
      if (/\d/.test(input.value[position])) digits += 1;
    }
    input.setSelectionRange(position, position);
  });
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

// Computes the remaining time from a clock, because browsers delay the timers of a background page.
function countDown(seconds, tick) {
  const endsAt = performance.now() + seconds * 1000;
  const timer = setInterval(() => {
    const left = Math.max(0, Math.round((endsAt - performance.now()) / 1000));
    tick(left);
    if (left === 0) clearInterval(timer);
  }, 1000);
  return () => clearInterval(timer);
}

function showTimeLeft(element) {
  const timer = element.querySelector("[role=timer]");
  const announcement = document.querySelector("[data-announce]");
  const show = (left) => {
    timer.textContent = clock(left);
    // Compares with <=, because a busy page skips seconds. A screen reader would repeat a text that
    // is set again.
    const text = left <= 60 ? announcement.dataset.one : left <= 300 ? announcement.dataset.five : "";
    if (announcement.textContent !== text) announcement.textContent = text;
    // Waits one more second before the reload, because the session ends by the server's clock.
    if (left === 0) setTimeout(() => location.assign(document.querySelector(".languages [aria-current]").href), 1000);
  };
  const seconds = Number(element.dataset.secondsLeft);
  show(Math.max(1, seconds));
  element.hidden = false;
  countDown(seconds, show);
}

function returnByItself(actions) {
  const link = actions.querySelector("[data-return]");
  const count = actions.querySelector("[data-return-count]");
  const stay = actions.querySelector("[data-stay]");
  for (const element of actions.querySelectorAll("[data-scripted]")) element.hidden = false;
  const stop = countDown(Number(actions.dataset.returnAfter), (left) => {
    count.textContent = left;
    if (left === 0) location.assign(link.href);
  });
  const remain = () => {
    stop();
    if (document.activeElement === stay) link.focus();
    stay.closest("p").hidden = true;
  };
  stay.addEventListener("click", remain);
  actions.querySelector("[data-print]")?.addEventListener("click", () => {
    remain();
    window.print();
  });
}

keepFormat(document.querySelector("[data-group-digits]"), (digits) => digits.replace(/(\d{4})(?=\d)/g, "$1 "));
keepFormat(document.querySelector("[data-month-year]"), (digits) => digits.replace(/^(\d{2})(?=\d)/, "$1/").slice(0, 7));

for (const element of document.querySelectorAll("[data-seconds-left]")) showTimeLeft(element);
for (const element of document.querySelectorAll("[data-return-after]")) returnByItself(element);

// Polls the server until the check has ended. A failed request is retried.
function waitForEnd(element) {
  const poll = async () => {
    try {
      const { waiting } = await (await fetch(element.dataset.waitAt)).json();
      if (!waiting) return location.replace(document.querySelector(".languages [aria-current]").href);
    } catch {}
    setTimeout(poll, 1000);
  };
  setTimeout(poll, 1000);
}

for (const element of document.querySelectorAll("[data-wait-at]")) waitForEnd(element);

for (const form of document.querySelectorAll("form[data-once]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    form.setAttribute("aria-busy", "true");
  });
}

// A page that the browser restores from its history may be outdated, so it is loaded again.
window.addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
