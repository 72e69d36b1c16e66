// What can be seen of a page's faults from inside it: a list of [kind, detail].
() => {
  const problems = [];
  const report = (kind, detail) => problems.push([kind, detail]);
  const brief = text => text.trim().replace(/\s+/g, ' ').slice(0, 120);
  const name = element => {
    const classes = [...element.classList].slice(0, 3).map(c => '.' + c).join('');
    return `<${element.localName}${element.id ? '#' + element.id : ''}${classes}> “${brief(element.textContent)}”`;
  };

  const overflowX = element => getComputedStyle(element).overflowX;

  // Raw markup: text outside code that TeX, MyST or a failed reference left behind.
  const RAW = [
    [/\\(begin|end)\s*\{/, 'a TeX environment'],
    [/\$\$/, 'display dollars'],
    [/\\[()[\]]/, 'TeX delimiters'],
    [/\\[a-zA-Z]{2,}/, 'a TeX command'],
    [/(^|[^\\\w$])\$[^\s$]([^$\n]*[^\s$])?\$(?!\w)/, 'inline dollars'],
    [/`{3}|:{3,}\s*\{/, 'a directive fence'],
    [/\{(ref|numref|eq|doc|any|term|download|math|sub|sup|abbr|cite(:[a-z]+)?|prf:ref|py:[a-z]+|glue(:[a-z]+)?)\}/, 'a role'],
    [/\{(prf:[a-z]+|exercise|solution|figure|note|dropdown|code-cell|table|math|list-table)\}/, 'a directive'],
    [/^\s*\([\w:-]+\)=\s*$/m, 'a label'],
    [/^\s*:(class|name|label|width|alt|align|nonumber|caption):/m, 'a directive option'],
    [/\]\((https?:|#|\.{1,2}\/|[\w/-]+\.(md|ipynb|html))/, 'a Markdown link'],
    [/[A-Za-z]\{\S{1,3}\}/, 'TeX braces'],
    [/(^|\s)\*\*\S/, 'Markdown emphasis'],
    [/\?\?/, 'an unresolved reference'],
    [/\[object \w+\]/, 'a printed object'],
  ];
  const CODE = 'script, style, template, noscript, pre, code, kbd, samp, textarea, .katex';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || node.parentElement.closest(CODE)) continue;
    for (const [pattern, what] of RAW)
      if (pattern.test(node.data)) report('raw markup', `${what}: “${brief(node.data)}”`);
  }
  for (const element of document.querySelectorAll('[data-rx] .rx-view, [data-rx] .rx-readout, main svg text'))
    if (/\b(undefined|NaN|null)\b/.test(element.textContent)) report('raw markup', `an empty value in ${name(element)}`);

  // Mathematics: every node of it holds one typeset formula and no error.
  for (const source of document.querySelectorAll('.math')) {
    const typeset = source.querySelectorAll('.katex-mathml math').length;
    if (typeset !== 1) report('mathematics', `${typeset} typeset formulas in ${name(source)}`);
    const frame = source.closest('div.math, p, li, dd, td, th, figcaption, section').getBoundingClientRect();
    const scrolls = [...source.querySelectorAll('.katex-display'), source].some(box => /auto|scroll/.test(overflowX(box)));
    const right = Math.max(...[...source.querySelectorAll('.katex-base')].map(piece => piece.getBoundingClientRect().right));
    if (!scrolls && frame.width > 0 && right > frame.right + 1)
      report('overflow', `${Math.round(right - frame.right)} px of a formula cut off: ${name(source)}`);
  }
  for (const error of document.querySelectorAll('.katex-error'))
    report('mathematics', `KaTeX could not set ${brief(error.textContent)}`);

  // Overflow: nothing sticks out of the window, save inside a box that scrolls by itself; nothing is cut off.
  const root = document.scrollingElement, width = root.clientWidth;
  if (root.scrollWidth > width) report('overflow', `the page scrolls sideways: ${root.scrollWidth} px in a window of ${width}`);
  const ancestors = element => { const all = []; while ((element = element.parentElement) && element !== document.body) all.push(element); return all; };
  const reported = new Set();
  for (const element of document.querySelectorAll('main *')) {
    if (element.ownerSVGElement || element.closest('.katex') || !element.checkVisibility()) continue;
    const box = element.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1) continue;
    const around = ancestors(element);
    if (around.some(outer => outer.clientWidth === 1 || reported.has(outer))) continue;
    if (box.left >= width && [element, ...around].some(outer => getComputedStyle(outer).position === 'fixed')) continue;  // a closed drawer
    if ((box.right > width + 1 || box.left < -1) && !around.some(outer => /auto|scroll/.test(overflowX(outer)))) {
      reported.add(element);
      report('overflow', `${Math.round(box.left)} to ${Math.round(box.right)} px of ${width}: ${name(element)}`);
    }
    if (!element.matches('.math') && /hidden|clip/.test(overflowX(element)) && element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1
        && getComputedStyle(element).textOverflow !== 'ellipsis') {
      reported.add(element);
      report('overflow', `${element.scrollWidth - element.clientWidth} px cut off from ${name(element)}`);
    }
  }

  // Figures and code: images are there, code cells can be copied.
  for (const image of document.querySelectorAll('main img'))
    if (image.complete && image.naturalWidth === 0) report('failed request', `no picture in ${image.src}`);
  const copyable = document.documentElement.querySelector('script[src*="copybutton"]') !== null;
  for (const code of document.querySelectorAll('.cell_input .highlight'))
    if (copyable && !code.querySelector('button.copybtn')) report('copy button', `none on ${name(code)}`);

  // Words of a figure can be read.
  for (const drawing of document.querySelectorAll('svg.drawn')) {
    const scale = drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
    for (const words of drawing.querySelectorAll('text'))
      if (scale && parseFloat(getComputedStyle(words).fontSize) * scale < 9.5)
        report('small words', `“${words.textContent}” in a figure: less than 9.5 px`);
  }
  return problems;
}
