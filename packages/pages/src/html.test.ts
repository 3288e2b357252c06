import { expect, test } from "vitest";
import { Html, html } from "./html.ts";

test("`html` escapes text and numbers, and inserts `Html` values and lists of `Html` values unchanged", () => {
  const text = `<b a="1" c='2'>&</b>`;
  expect(html`<p title="${text}">${text} ${1}</p>`.text).toBe(
    '<p title="&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;&lt;/b&gt;">&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;&lt;/b&gt; 1</p>',
  );
  expect(html`<ul>${["a", "<"].map((item) => html`<li>${item}</li>`)}</ul>${new Html("<hr>")}`.text).toBe(
    "<ul><li>a</li>\n<li>&lt;</li></ul><hr>",
  );
});

test("`html` omits the values undefined and false, and renders the number 0", () => {
  expect(html`[${undefined}${false}${0}]`.text).toBe("[0]");
});
