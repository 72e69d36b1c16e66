// What the theme says wrongly to assistive technology, mended once the page is there.

// A label that hides the words on the button or on the summary of a folded cell: the words are better.
for (const element of document.querySelectorAll(".search-button-field[aria-label], details > summary[aria-label]")) {
  element.removeAttribute("aria-label");
}

// The colour switch shows an icon titled by its present mode, so its name must hold that title.
function nameSwitches() {
  const mode = document.documentElement.dataset.mode;
  for (const button of document.querySelectorAll(".theme-switch-button")) {
    button.setAttribute("aria-label", `Colour mode: ${button.querySelector(`[data-mode="${mode}"]`)?.title ?? mode}`);
  }
}
nameSwitches();
new MutationObserver(nameSwitches).observe(document.documentElement, { attributeFilter: ["data-mode"] });

// In the menu the button that unfolds the pages below a page has no name.
for (const button of document.querySelectorAll(".toctree-toggle")) {
  const { textContent } = button.closest("li").querySelector("a");
  button.parentElement.setAttribute("aria-label", `Pages below “${textContent.trim()}”`);
}

// A bibliography is said to be a list, but its entries are not list items.
for (const list of document.querySelectorAll(".citation-list[role]")) {
  list.removeAttribute("role");
}

// The theme makes code that scrolls reachable by keyboard when the page opens; code that is unfolded later is not, and
// no formula is.
const unfolded = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
  }
});
for (const box of document.querySelectorAll("details pre, .dropdown pre, .katex-display, .drawing")) unfolded.observe(box);

// Where a table goes on beyond the edge of a narrow page it fades there, until it is scrolled to its end.
const fade = (box) => box.toggleAttribute("data-more", box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
const resized = new ResizeObserver((entries) => { for (const { target } of entries) fade(target); });
for (const box of document.querySelectorAll(".bd-article .pst-scrollable-table-container")) {
  resized.observe(box);
  box.addEventListener("scroll", () => fade(box), { passive: true });
}

// A switch opens all folded code of a chapter, and is remembered for the other pages. It stands in the bar that stays in
// view, and what one reads stays where it is.
const folds = document.querySelectorAll(".bd-article details.fold:not(.fold-proof, .fold-source-note, .fold-tests)");
if (folds.length) {
  const remembered = "recurrence-all-code";
  const read = () => { try { return localStorage.getItem(remembered); } catch { return null; } };
  const keep = (value) => { try { localStorage.setItem(remembered, value); } catch { /* a page that may store nothing */ } };
  const open = (all) => { for (const one of folds) one.open = all; };
  const inView = () => [...document.querySelectorAll(".bd-article section > :not(section)")].find((part) => part.getBoundingClientRect().bottom > 80);
  const line = document.createElement("label");
  line.className = "all-code";
  const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: read() === "yes" });
  const sign = Object.assign(document.createElement("span"), { className: "all-code-sign", textContent: "</>" });
  sign.setAttribute("aria-hidden", "true");
  line.append(box, sign, Object.assign(document.createElement("span"), { className: "all-code-words", textContent: "Show all code" }));
  line.title = "Show all code";
  document.querySelector(".header-article-items__start").append(line);
  box.addEventListener("change", () => {
    const part = inView(), top = part?.getBoundingClientRect().top;
    open(box.checked);
    if (part) scrollBy({ top: part.getBoundingClientRect().top - top, behavior: "instant" });
    keep(box.checked ? "yes" : "no");
  });
  if (box.checked) open(true);
}

// A link to what is folded unfolds it.
function unfold() {
  let target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.closest("details:not([open])")) return;
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.scrollIntoView();
}
unfold();
addEventListener("hashchange", unfold);

// The explorer of the landing page plays by itself, unless the reader wants less motion.
for (const box of document.querySelectorAll(".plays-itself .rx")) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) continue;
  addEventListener("load", () => setTimeout(() => box.querySelector('button[id$="-play"]')?.click(), 600));
}
