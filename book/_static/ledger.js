// Filters the claims ledger by source and verdict; without this script the page has all cards.
// The choice is kept in the address, so that a filtered ledger can be linked to.
(() => {
  const form = document.querySelector("form.ledger-filter");
  const table = document.querySelector("div.ledger");
  if (!form || !table) return;

  const rows = [...table.children];
  const status = form.querySelector("[role=status]");
  const names = ["source", "verdict"];

  const show = () => {
    const wanted = names.filter((name) => form.elements[name].value).map((name) => `${name}-${form.elements[name].value.toLowerCase()}`);
    for (const row of rows) row.hidden = !wanted.every((name) => row.classList.contains(name));
    const shown = rows.filter((row) => !row.hidden).length;
    status.textContent = shown ? `${shown} of ${rows.length} claims shown` : "No claim of this source has this verdict.";
    table.hidden = shown === 0;
  };

  const remember = () => {
    const address = new URL(location.href);
    for (const name of names) {
      if (form.elements[name].value) address.searchParams.set(name, form.elements[name].value);
      else address.searchParams.delete(name);
    }
    history.replaceState(history.state, "", address);
  };

  const choose = (values) => {
    for (const name of names) form.elements[name].value = values.get(name) ?? "";
    for (const name of names) if (form.elements[name].selectedIndex < 0) form.elements[name].value = "";
    show();
  };

  // A link to a card opens it, and shows it where the filter hides it.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!rows.includes(target)) return;
    if (target.hidden) {
      choose(new URLSearchParams());
      remember();
    }
    target.open = true;
    target.scrollIntoView();
  };

  form.addEventListener("change", () => { show(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    choose(new URLSearchParams());
    remember();
  });
  addEventListener("hashchange", reveal);

  form.hidden = false;
  choose(new URLSearchParams(location.search));
  reveal();
})();
