// Marks with data-sample the three longest texts of every look: what looks like them has their contrast. Marks stay.
() => {
  const PLAIN = 'rgba(0, 0, 0, 0) none 1 none normal';
  const backgrounds = new Map([[null, '']]);
  const background = element => {  // all that is painted behind a text by what is around it
    if (!backgrounds.has(element)) {
      const style = getComputedStyle(element);
      const paint = `${style.backgroundColor} ${style.backgroundImage} ${style.opacity} ${style.filter} ${style.mixBlendMode}`;
      const apart = /^(static|relative)$/.test(style.position) ? '' : element.className;  // may lie over something else
      const own = paint === PLAIN && !apart ? '' : `${paint} ${apart};`;
      backgrounds.set(element, background(element.parentElement) + own);
    }
    return backgrounds.get(element);
  };
  const texts = new Set(document.querySelectorAll('input, select, textarea'));
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) if (node.data.trim()) texts.add(node.parentElement);
  const looks = new Map();
  for (const element of texts) {
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const style = getComputedStyle(element);
    const look = `${style.color} ${style.font} ${style.textShadow} ${background(element)}`;
    looks.set(look, [...looks.get(look) ?? [], element]);
  }
  const length = element => element.textContent.trim().length;
  for (const alike of looks.values())
    for (const element of alike.sort((a, b) => length(b) - length(a)).slice(0, 3)) element.dataset.sample = '';
}
