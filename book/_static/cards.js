// What a link leads to, or a symbol means, beside it: on hover, on focus, and at a first tap. The cards of a page are a script that is
// loaded when the first of them is wanted, so that this works from a disk too.
(() => {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const pages = new Map();  // the cards of each page by id: [HTML], or another id that they are under
  let card, shownFor, shownAt, timer;

  window.bookCards = (page, cards) => pages.get(page).arrived(cards);

  function load(page) {
    if (!pages.has(page)) {
      const entry = {};
      entry.cards = new Promise((resolve) => {
        entry.arrived = resolve;
        const script = Object.assign(document.createElement("script"), { src: new URL(`_static/cards/${page}.js`, root) });
        script.addEventListener("error", () => resolve({}));
        document.head.append(script);
      });
      pages.set(page, entry);
    }
    return pages.get(page).cards;
  }

  // The page and the id that a link leads to, if the book has a card for such.
  function target(link) {
    if (link.dataset.symbol) return { page: "book/notation", id: `symbol-${link.dataset.symbol}`, address: new URL("book/notation.html", root).href };
    if (link.hash.length < 2 || link.protocol !== location.protocol || link.host !== location.host) return null;
    const path = decodeURIComponent(link.pathname), base = decodeURIComponent(root.pathname);
    if (!path.startsWith(base) || !path.endsWith(".html")) return null;
    return { page: path.slice(base.length, -".html".length), id: decodeURIComponent(link.hash.slice(1)), address: link.href };
  }

  async function show(link) {
    const { page, id, address } = target(link);
    const cards = await load(page);
    if (shownFor !== link) return;
    const found = typeof cards[id] === "string" ? cards[cards[id]] : cards[id];
    if (!found) return;
    card ??= Object.assign(document.createElement("div"), { id: "link-card", className: "link-card bd-article bd-content", role: "tooltip" });
    card.innerHTML = found[0];
    for (const [attribute, elements] of [["href", "a[href]"], ["src", "img[src]"]]) {
      for (const element of card.querySelectorAll(elements)) element.setAttribute(attribute, new URL(element.getAttribute(attribute), address));
    }
    for (const inner of card.querySelectorAll("a, summary, button, [tabindex]")) inner.tabIndex = -1;
    document.body.append(card);
    link.setAttribute("aria-describedby", card.id);
    place(link);
  }

  // Below the link, above it where there is more room, within the window.
  function place(link) {
    const at = link.getClientRects()[0], gap = 6, { clientWidth } = document.documentElement;
    shownAt = at.top;
    const below = innerHeight - at.bottom > Math.min(card.offsetHeight, innerHeight / 2) + gap || innerHeight - at.bottom > at.top;
    card.style.maxHeight = `${(below ? innerHeight - at.bottom : at.top) - 2 * gap}px`;
    card.style.left = `${Math.max(gap, Math.min(at.left, clientWidth - card.offsetWidth - gap))}px`;
    card.style.top = below ? `${at.bottom + gap}px` : `${at.top - card.offsetHeight - gap}px`;
  }

  function hide() {
    clearTimeout(timer);
    shownFor?.removeAttribute("aria-describedby");
    shownFor = null;
    card?.remove();
  }

  function want(link, wait) {
    clearTimeout(timer);
    if (shownFor === link) return;
    timer = setTimeout(() => { hide(); shownFor = link; show(link); }, wait);
  }

  // A symbol has a card but is no link; within a link or a line that unfolds something it is a part of that.
  const symbolOf = (event) => {
    const symbol = event.target.closest?.(".bd-article [data-symbol]");
    return symbol && !symbol.closest(".link-card, a, summary, button") ? symbol : null;
  };
  const linkOf = (event) => {
    const link = event.target.closest?.(".bd-article a.reference[href], .bd-article a[href*='#']");
    if (!link) return symbolOf(event);
    return !link.closest(".link-card, .headerlink, .toctree-wrapper") && !link.matches(".headerlink") && target(link) ? link : null;
  };

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const link = linkOf(event);
    if (link) want(link, link.dataset.symbol ? 450 : 250);
    else if (event.target.closest?.(".link-card")) clearTimeout(timer);
    else if (shownFor) { clearTimeout(timer); timer = setTimeout(hide, 200); }
    else clearTimeout(timer);
  });
  document.addEventListener("focusin", (event) => {
    const link = linkOf(event);
    if (link?.matches(":focus-visible")) want(link, 250);
    else if (!event.target.closest?.(".link-card")) hide();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  // A page that scrolls only to keep its place, since something above has grown, leaves the link where it was.
  addEventListener("scroll", () => {
    if (card?.isConnected && !card.matches(":hover") && Math.abs(shownFor.getClientRects()[0]?.top - shownAt) > 40) hide();
  }, { passive: true });

  // A first tap shows the card, a second one on the same link, or one on the card, follows it.
  let tapped = false;
  document.addEventListener("pointerdown", (event) => {
    tapped = event.pointerType === "touch";
    if (tapped && !linkOf(event) && !event.target.closest?.(".link-card")) hide();
  });
  document.addEventListener("click", async (event) => {
    const link = linkOf(event);
    if (!tapped || !link || shownFor === link) return;
    event.preventDefault();
    hide();
    shownFor = link;
    await show(link);
    if (link.href && shownFor === link && !card?.isConnected) location.assign(link.href);  // there is nothing to show
  });
})();
