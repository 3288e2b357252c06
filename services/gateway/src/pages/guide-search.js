// Search box of the guide. `src/guide.ts` bundles this file with MiniSearch. The index is loaded
// when the box first gets the focus.
import MiniSearch from "minisearch";

const resultsMax = 8;
const snippetLength = 160;
// Must split texts in the same way as `tokenize` in `guide-index.ts`.
const tokenize = (text) => text.split(/[^\p{L}\p{N}]+/u);

const box = document.querySelector("search");
const input = box.querySelector("input");
const panel = box.querySelector(".results");
const status = panel.querySelector("[role=status]");
const list = panel.querySelector("ol");

let loading;
function loadIndex() {
  loading ??= fetch("/docs/search.json")
    .then((response) => {
      if (!response.ok) throw new Error(`/docs/search.json returned ${response.status}`);
      return response.json();
    })
    .then(({ index, options }) => MiniSearch.loadJS(index, { ...options, tokenize }))
    .catch((error) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

async function search() {
  const query = input.value.trim();
  if (query === "") return close();
  let index;
  try {
    index = await loadIndex();
  } catch {
    return show("The search is not available. Reload the page to try again.", []);
  }
  // The query has changed since this search started, and a later input event has started another
  // search.
  if (query !== input.value.trim()) return;
  const found = index
    .search(query, {
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: "AND",
      boost: { heading: 3, page: 2 },
    })
    .slice(0, resultsMax);
  show(found.length === 0 ? `No results for “${query}”` : found.length === 1 ? "1 result" : `${found.length} results`, found);
}

function show(message, results) {
  if (status.textContent !== message) status.textContent = message;
  list.replaceChildren(...results.map(itemOf));
  panel.hidden = false;
}

function itemOf({ path, page, heading, text, terms }) {
  const title = create("strong", heading === "" ? page : `${page} › ${heading}`);
  const snippet = create("span");
  snippet.append(...snippetOf(text, terms));
  const link = create("a");
  link.href = path;
  link.append(title, snippet);
  const item = create("li");
  item.append(link);
  return item;
}

/** Returns the text around the first found term, with the found terms marked. */
function snippetOf(text, terms) {
  const pattern = new RegExp(`(${terms.join("|")})`, "giu");
  const at = Math.max(0, text.search(pattern));
  const from = at < snippetLength / 2 ? 0 : text.indexOf(" ", at - snippetLength / 2) + 1;
  const end = from + snippetLength;
  const to = end >= text.length ? text.length : Math.max(text.lastIndexOf(" ", end), from + 1);
  const parts = text.slice(from, to).split(pattern);
  const marked = parts.map((part, i) => (i % 2 === 1 ? create("mark", part) : part));
  return [from > 0 && "… ", ...marked, to < text.length && " …"].filter((part) => part !== false && part !== "");
}

function create(name, text = "") {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

function close() {
  panel.hidden = true;
  list.replaceChildren();
  status.textContent = "";
}

input.addEventListener("focus", () => loadIndex().catch(() => {}));
input.addEventListener("input", search);

box.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  const position = links.indexOf(document.activeElement);
  if (event.key === "Escape") {
    input.value = "";
    close();
    input.focus();
  } else if (event.key === "Enter" && position < 0) links[0]?.click();
  else if (event.key === "ArrowDown") links[Math.min(position + 1, links.length - 1)]?.focus();
  else if (event.key === "ArrowUp" && position >= 0) (links[position - 1] ?? input).focus();
  else return;
  event.preventDefault();
});

// The panel covers the page, so a click or the focus elsewhere closes it.
for (const type of ["click", "focusin"]) {
  document.addEventListener(type, ({ target }) => {
    if (!box.contains(target)) panel.hidden = true;
    else if (target === input && list.childElementCount > 0) panel.hidden = false;
  });
}
// A result on the current page only scrolls to its heading, so the click must close the panel.
list.addEventListener("click", close);

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
});

box.hidden = false;
