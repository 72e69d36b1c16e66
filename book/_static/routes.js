// A reader who follows a route finds the next step at the top and at the end of each chapter on it.
const data = document.getElementById("routes-data");
const routes = data ? JSON.parse(data.textContent) : [];
const here = decodeURIComponent(location.pathname);
const at = (route) => route.steps.findIndex((step) => here.endsWith(`/${step.page}`));
const address = (step, route) => `${document.documentElement.dataset.content_root}${step.page}?route=${route.name}`;
const kept = "recurrence-route";
const remember = (name) => { try { name ? sessionStorage.setItem(kept, name) : sessionStorage.removeItem(kept); } catch { /* nothing may be stored */ } };
const recall = () => { try { return sessionStorage.getItem(kept); } catch { return null; } };

const named = new URLSearchParams(location.search).get("route") ?? recall();
const route = routes.find((one) => one.name === named && at(one) >= 0);
if (route) {
  remember(route.name);
  const last = document.getElementById(route.steps[at(route)].end)?.closest("section");
  last?.append(follow(route));
  for (const place of [[document.querySelector(".bd-article h1"), "after"], [document.querySelector(".prev-next-footer"), "prepend"]]) {
    place[0]?.[place[1]](follow(route));
  }
}

function follow(one) {
  const place = at(one), next = one.steps[place + 1];
  const line = Object.assign(document.createElement("nav"), { className: "on-route" });
  line.setAttribute("aria-label", `Route: ${one.title}`);
  const all = Object.assign(document.createElement("a"), { href: `${document.documentElement.dataset.content_root}book/routes.html#${one.name}`, textContent: one.title });
  line.append("Route: ", all, `, ${place + 1} of ${one.steps.length}. `);
  const last = one.steps[place].end && document.getElementById(one.steps[place].end)?.closest("section");
  if (last) line.append("Here it leads to the end of ", Object.assign(document.createElement("a"), { href: `#${last.id}`, textContent: last.querySelector("h2, h3").firstChild.textContent.trim().replace(/\.$/, "") }), ". ");
  if (next) line.append("Next: ", Object.assign(document.createElement("a"), { href: address(next, one), textContent: next.title }), ". ");
  const leave = Object.assign(document.createElement("button"), { type: "button", textContent: "Leave the route" });
  leave.addEventListener("click", () => {
    remember(null);
    for (const shown of document.querySelectorAll(".on-route")) shown.remove();
    try { history.replaceState(null, "", location.pathname + location.hash); } catch { /* a page from a disk */ }
  });
  line.append(leave);
  return line;
}

// On the page of routes each step leads to its chapter on that route.
for (const section of document.querySelectorAll("section.route")) {
  const one = routes.find((each) => each.name === section.id);
  for (const link of section.querySelectorAll("td a, th a")) {
    const step = one?.steps.find((each) => link.pathname.endsWith(`/${each.page}`));
    if (step) link.search = `?route=${one.name}`;
  }
}

// How far one has read.
const progress = Object.assign(document.createElement("div"), { className: "progress-line" });
progress.setAttribute("aria-hidden", "true");
document.body.append(progress);
const show = () => {
  const whole = document.documentElement.scrollHeight - innerHeight;
  progress.style.transform = `scaleX(${whole > 0 ? Math.min(1, scrollY / whole) : 0})`;
};
addEventListener("scroll", show, { passive: true });
show();
