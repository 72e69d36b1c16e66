// The search of the book. book/_ext/search_index.py writes the text of all sections, MiniSearch makes an index of it in
// the browser, and both are loaded when a field of the search is first used. A script may be loaded from a disk too.
(() => {
  const SCRIPTS = ["_static/search/minisearch.js", "_static/search/stemmer.js", "searchindex.js"];
  const SHOWN_IN_DIALOG = 12, SHOWN_ON_PAGE = 60, EXCERPT = 240, PAUSE = 120;
  const LIST = 2;  // the rank of a page that lists names
  const COMMON = new Set(("a an and are as at be by can do does for from has have how i if in is it its of on or that " +
    "the their then there these this to was what when where which why will with").split(" "));
  const IRREGULAR = { automata: "automaton", matrices: "matrix", indices: "index", vertices: "vertex", suprema: "supremum",
    maxima: "maximum", minima: "minimum", optima: "optimum", spectra: "spectrum", criteria: "criterion", bases: "basis",
    hypotheses: "hypothesis", analyses: "analysis", corollaries: "corollary" };
  const WORD = /[\p{L}\p{N}_][\p{L}\p{N}\p{M}_]*/gu;
  const root = document.documentElement.dataset.content_root;

  // Words: in small letters without accents; a word is found by its stem too, and the name of a function by its parts.
  const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const wordsOf = (text) => (text.replace(/['’]s\b/g, "").match(WORD) ?? []).map(plain);
  const stem = (word) => stemmer(IRREGULAR[word] ?? word);
  const forms = new Map();
  const formsOf = (word) => {
    if (!forms.has(word)) {
      const parts = word.includes("_") ? word.split("_").filter(Boolean) : [];
      forms.set(word, [...new Set([word, ...parts].flatMap((part) => [part, stem(part)]))]);
    }
    return forms.get(word);
  };

  function inject(path) {
    return new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: root + path, onload: resolve });
      script.onerror = () => reject(new Error(path));
      document.head.append(script);
    });
  }

  let loading;
  const load = () => (loading ??= Promise.all(SCRIPTS.map(inject)).then(prepare));

  function prepare() {
    const { pages, sections } = bookSections;
    const index = new MiniSearch({ fields: ["heading", "names", "page", "text"], tokenize: wordsOf, processTerm: formsOf });
    const known = sections.map(([page, anchor, heading, text, names], id) => {
      const [address, title, rank] = pages[page];
      return { id, address: `${root}${address}#${anchor}`, page: title, rank, heading, text, names, term: anchor.startsWith("term-") };
    });
    index.addAll(known);
    return { index, known };
  }

  // A query: its words but for the common ones. The last may be the beginning of a word.
  function wordsWanted(query) {
    const all = wordsOf(query), rare = all.filter((word) => !COMMON.has(word));
    return [...new Set(rare.length ? rare : all)];
  }

  const begins = (word) => word.length > 1;

  function find({ index, known }, wanted) {
    const last = wanted.length - 1;
    const queries = wanted.map((word, place) => ({
      combineWith: "OR", queries: [{ queries: [word], prefix: place === last && begins(word) }, { queries: [stem(word)], prefix: false }],
    }));
    const options = { tokenize: (word) => [word], processTerm: (word) => word };
    let hits = index.search({ combineWith: "AND", queries }, options);
    const partly = !hits.length && wanted.length > 1;
    if (partly) hits = index.search({ combineWith: "OR", queries }, options);
    const ranked = weighed(hits.map((hit) => ({ ...known[hit.id], score: hit.score })), wanted);
    const order = (hit) => [hit.term && same(hit.heading, wanted), -(hit.rank === LIST), hit.fit, -hit.rank, hit.named, hit.score];
    ranked.sort((one, other) => {
      const [ours, theirs] = [order(one), order(other)], first = ours.findIndex((value, i) => value !== theirs[i]);
      return first < 0 ? 0 : theirs[first] - ours[first];
    });
    return { hits: ranked, partly };
  }

  // Whether a term of the glossary is just what was asked for, in any form of its words: then its definition comes first.
  function same(heading, wanted) {
    const words = wordsWanted(heading);
    return words.length === wanted.length && words.every((word, place) => stem(word) === stem(wanted[place]));
  }

  // MiniSearch looks at each section by itself. Here its page counts too, by its title and what is found on it.
  function weighed(hits, wanted) {
    const found = new Map();
    for (const { page, score } of hits) found.set(page, (found.get(page) ?? 0) + score);
    const most = Math.max(...found.values());
    return hits.map((hit) => {
      const score = hit.score * (1 + found.get(hit.page) / most);
      const title = new Set(wordsOf(hit.page).flatMap(formsOf));
      const named = wanted.filter((word) => title.has(word) || title.has(stem(word))).length;
      return { ...hit, score, named, fit: fit(hit, wanted) };
    });
  }

  // 2: the titles, which are the heading, the names of statements and that of the page, have all words, and not only
  // the last of them one; 1: if the last word is taken as a beginning; 0: they have not.
  function fit({ heading, names, page }, wanted) {
    const own = wordsOf(`${heading} ${names}`), all = [...own, ...wordsOf(page)];
    const has = (words, word) => words.some((one) => formsOf(one).some((form) => form === word || form === stem(word)));
    const starts = (words, word) => has(words, word) || (begins(word) && words.some((one) => one.startsWith(word)));
    const fits = (test) => wanted.every((word) => test(all, word)) && wanted.some((word) => test(own, word));
    return fits(has) ? 2 : Number(fits((words, word) => (word === wanted.at(-1) ? starts : has)(words, word)));
  }

  // Where the words stand in a text: for each place its ends and the number of the word.
  function placesOf(text, wanted) {
    return [...text.matchAll(WORD)].flatMap(({ 0: found, index: start }) => {
      const word = plain(found), forms = formsOf(word);
      const which = wanted.findIndex((one, place) =>
        forms.includes(one) || forms.includes(stem(one)) || (place === wanted.length - 1 && begins(one) && word.startsWith(one)));
      return which < 0 ? [] : [{ start, end: start + found.length, which }];
    });
  }

  // The part of a text with as many of the words as possible, from the beginning of a sentence or of a word on; of a term
  // that was asked for, its definition.
  function excerptOf({ heading, text, term }, wanted) {
    const places = term && same(heading, wanted) ? [] : placesOf(text, wanted);
    let best = { start: 0, count: 0 };
    places.forEach(({ start }, i) => {
      const near = places.slice(i).filter(({ end }) => end <= start + EXCERPT * 0.7);
      const count = new Set(near.map(({ which }) => which)).size;
      if (count > best.count) best = { start, count };
    });
    const reach = EXCERPT * 0.4, sentence = text.lastIndexOf(". ", best.start);
    let from = 0;
    if (best.start > reach) {
      const near = sentence > 0 && best.start - sentence < reach;
      from = near ? sentence + 2 : text.indexOf(" ", best.start - reach / 2) + 1;
    }
    if (from > 0) from = Math.min(from, text.indexOf(" ", Math.max(0, text.length - EXCERPT)) + 1);
    let to = Math.min(text.length, from + EXCERPT);
    if (to < text.length) to = Math.max(text.lastIndexOf(" ", to), from + 1);
    return [from ? "… " : "", ...marked(text.slice(from, to), wanted), to < text.length ? " …" : ""];
  }

  function marked(text, wanted) {
    const parts = [];
    let from = 0;
    for (const { start, end } of placesOf(text, wanted)) {
      parts.push(text.slice(from, start), element("mark", {}, text.slice(start, end)));
      from = end;
    }
    return [...parts, text.slice(from)];
  }

  function element(name, properties, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function item(hit, wanted) {
    const link = element("a", { href: hit.address }, ...marked(hit.heading, wanted));
    const page = hit.heading === hit.page ? [] : [element("p", { className: "search-page" }, hit.page)];
    const excerpt = hit.text ? [element("p", { className: "search-excerpt" }, ...excerptOf(hit, wanted))] : [];
    return element("li", {}, ...page, link, ...excerpt);
  }

  function counted(hits, partly, shown) {
    const number = hits.length === 1 ? "1 section" : `${hits.length} sections`;
    const what = partly ? `No section has all of these words; ${number} with some of them` : number;
    return hits.length > shown ? `${what}, the first ${shown}:` : `${what}:`;
  }

  // One field with its list. An answer that comes late, to a query that is no longer in the field, is not shown.
  function serve(form) {
    const field = form.querySelector("input"), dialog = form.closest("dialog");
    const found = form.parentElement.querySelector(".search-found");
    const count = found.querySelector(".search-count"), list = found.querySelector(".search-hits");
    const shown = dialog ? SHOWN_IN_DIALOG : SHOWN_ON_PAGE;
    let timer;

    function show(said, items = []) {
      found.dataset.answers = field.value.trim();
      count.replaceChildren(said);
      list.replaceChildren(...items);
      list.scrollTop = 0;
    }

    async function answer() {
      const query = field.value.trim();
      if (!query) return show("");
      let book;
      try {
        book = await load();
      } catch (error) {
        loading = undefined;
        return show(`The text of the book could not be loaded (${error.message}).`);
      }
      if (query !== field.value.trim()) return;
      const wanted = wordsWanted(query);
      const { hits, partly } = wanted.length ? find(book, wanted) : { hits: [] };
      if (!hits.length) return show(`Nothing in the book has “${query}”.`);
      show(counted(hits, partly, shown), hits.slice(0, shown).map((hit) => item(hit, wanted)));
      if (dialog && hits.length > shown) {
        const all = element("a", { href: `${form.action.split("?")[0]}?q=${encodeURIComponent(query)}` }, `All ${hits.length}`);
        list.append(element("li", { className: "search-all" }, all));
      }
    }

    field.addEventListener("focus", ({ relatedTarget }) => {
      load().catch(() => { loading = undefined; });
      if (!list.contains(relatedTarget)) field.select();
    });
    field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(answer, PAUSE); });
    if (dialog) {  // Enter leads to the first hit; the list of all has a link of its own
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        clearTimeout(timer);
        if (found.dataset.answers !== field.value.trim()) await answer();
        if (found.dataset.answers === field.value.trim()) list.querySelector("li:not(.search-all) a")?.click();
      });
    }
    form.parentElement.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && dialog) {  // the query stays, for when the dialog is opened again
        event.preventDefault();
        dialog.close();
      }
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      const stops = [field, ...list.querySelectorAll("a")], here = stops.indexOf(document.activeElement);
      const next = stops[here + (event.key === "ArrowDown" ? 1 : -1)];
      if (here < 0 || !next) return;
      event.preventDefault();
      next.focus();
    });
    list.addEventListener("click", (event) => { if (event.target.closest("a")) dialog?.close(); });
    return { field, answer };
  }

  for (const form of document.querySelectorAll("form.bd-search")) {
    const { field, answer } = serve(form);
    if (form.closest("dialog")) continue;
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    answer();
    if (field.value && !matchMedia("(hover: hover)").matches) continue;  // the keyboard of a telephone hides what is found
    field.focus();
  }
})();
