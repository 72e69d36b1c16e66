// Make an opened page ready for paper; returns its headings, [level, text, id], and what is wider than the paper.
async () => {
  for (const picture of document.images) picture.loading = 'eager';
  await Promise.all([...document.images].map(picture => picture.decode().catch(() => null)));

  // A section may begin at the foot of a sheet and its heading on the next: the anchor is the heading's.
  for (const heading of document.querySelectorAll('article section[id] > :is(h1, h2, h3, h4)')) {
    if (heading.id || !heading.parentElement.id) continue;
    heading.id = heading.parentElement.id;
    heading.parentElement.removeAttribute('id');
  }

  // Chromium notes the place in print of those anchors only that a link on the page itself leads to: one leads to each.
  const links = document.createElement('div');
  links.hidden = true;
  for (const {id} of document.querySelectorAll('main [id]')) {
    const link = document.createElement('a');
    link.href = '#' + encodeURIComponent(id);
    links.append(link);
  }
  document.body.append(links);

  // Formulas and tables that are too wide shrink until they fit.
  const shrink = (part, width, room) => { if (width > room) part.style.zoom = 0.98 * room / width; };
  for (const frame of document.querySelectorAll('article .katex-display'))
    shrink(frame.firstElementChild, frame.scrollWidth, frame.clientWidth);
  for (const piece of document.querySelectorAll('article span.math .katex-base'))
    shrink(piece, piece.offsetWidth, piece.closest('p, li, dd, td, section').clientWidth);
  for (const table of document.querySelectorAll('article table'))
    shrink(table, table.scrollWidth, table.parentElement.clientWidth);

  const headings = [...document.querySelectorAll('article :is(h1, h2, h3)')].map(heading => {
    const text = heading.cloneNode(true);
    text.querySelectorAll('.headerlink, script, .katex-mathml').forEach(part => part.remove());
    return [Number(heading.localName[1]), text.textContent.trim().replace(/\s+/g, ' '), heading.id];
  });

  const paper = document.documentElement.clientWidth;
  const spilled = [];
  for (const part of document.querySelectorAll('article :is(p, pre, table, img, svg, figure, .katex .katex-base)')) {
    const {left, right} = part.getBoundingClientRect();
    const cut = part.localName === 'pre' && part.scrollWidth > part.clientWidth + 1;
    if (part.ownerSVGElement || !part.checkVisibility() || (left >= -1 && right <= paper + 1 && !cut)) continue;
    const words = part.textContent.trim().slice(0, 60);
    const end = cut ? left + part.scrollWidth : right;
    spilled.push(`<${part.localName}> from ${Math.round(left)} to ${Math.round(end)} px of ${paper}: “${words}”`);
  }
  return {headings, spilled};
}
