.rx {
  color-scheme: light dark;
  --rx-ink: light-dark(#1d2530, #dfe5eb); --rx-soft: light-dark(#4d5866, #aeb8c4); --rx-paper: light-dark(#ffffff, #14181e);
  --rx-edge: light-dark(#c9d0d8, #48566b); --rx-grid: light-dark(#e3e7ec, #2b3440); --rx-focus: light-dark(#0b57d0, #8ab4ff);
  --rx-c0: light-dark(#082994, #7a93f0); --rx-c1: light-dark(#b65d00, #e0664d); --rx-c2: light-dark(#017e58, #6affaa);
  --rx-c3: light-dark(#a05c9e, #a58ba8); --rx-c4: light-dark(#572600, #eed64d); --rx-c5: light-dark(#101820, #c8e1ff);
  box-sizing: border-box; max-width: 46rem; margin: 0.5rem auto; padding: 0.75rem; border: 1px solid var(--rx-edge); border-radius: 6px;
  background: var(--rx-paper); color: var(--rx-ink); text-align: left; font: 15px/1.4 system-ui, -apple-system, "Segoe UI", sans-serif;
}
html[data-theme="light"] .rx, html[theme="light"] .rx, body[data-jp-theme-light="true"] .rx, body.vscode-light .rx { color-scheme: light; }
html[data-theme="dark"] .rx, html[theme="dark"] .rx, body[data-jp-theme-light="false"] .rx, body.vscode-dark .rx { color-scheme: dark; }
.text_html:has(> .rx) { background: none !important; padding: 0 !important; }
.rx *, .rx *::before { box-sizing: border-box; }
.rx fieldset { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; margin: 0 0 0.5rem; padding: 0; border: 0; min-width: 0; }
.rx .rx-control { display: flex; flex: 1 1 16rem; flex-wrap: wrap; align-items: center; gap: 0.15rem 0.6rem; min-width: 0; min-height: 2rem; }
.rx .rx-control:has(button) { flex: 0 0 auto; }
.rx label { margin: 0; font-weight: 600; }
.rx input[type="range"] { flex: 1 1 11rem; min-width: 4rem; height: 1.75rem; margin: 0; accent-color: var(--rx-c0); cursor: pointer; }
.rx input[type="text"], .rx input[type="number"], .rx select, .rx button {
  min-width: 0; max-width: 100%; min-height: 2rem; padding: 0.2rem 0.5rem; border: 1px solid var(--rx-soft); border-radius: 4px;
  background: var(--rx-paper); color: var(--rx-ink); font: inherit;
}
.rx input[type="text"] { flex: 1 1 8rem; font-family: ui-monospace, monospace; }
.rx :is(input, select, button):focus-visible { outline: 2px solid var(--rx-focus); outline-offset: 1px; border-radius: 4px; }
.rx .rx-value { flex: none; min-width: 3rem; text-align: right; font-variant-numeric: tabular-nums; }
.rx .rx-view svg { display: block; width: 100%; height: auto; }
.rx .rx-view text { fill: var(--rx-ink); font-size: 13px; font-variant-numeric: tabular-nums; }
.rx .rx-view svg svg text { paint-order: stroke; stroke: var(--rx-paper); stroke-width: 4px; stroke-linejoin: round; }
.rx .rx-view .rx-axis { fill: var(--rx-soft); }
.rx .rx-grid { stroke: var(--rx-grid); }
.rx .rx-span { fill: var(--rx-grid); }
.rx .rx-line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.rx .rx-points { fill: none; stroke-width: 5; stroke-linecap: round; }
.rx .rx-readout { margin: 0.5rem 0 0; min-height: 2.8em; color: var(--rx-ink); }
@media print {
  html .rx.rx.rx { color-scheme: light; break-inside: avoid; }
}
