{
  // Runs after the view, which has declared render(root, frame, values, helpers).
  const element = (tag, attributes = {}, ...children) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  };

  // Equal parts of the frames are stored once; {"$": i} stands for pool[i].
  const revive = (node, pool) => {
    if (node === null || typeof node !== "object") return node;
    if (Array.isArray(node)) return node.map((child) => revive(child, pool));
    if ("$" in node) return revive(pool[node.$], pool);
    return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, revive(child, pool)]));
  };

  // Round numbers in [low, high], about `count` of them.
  const ticks = (low, high, count = 5) => {
    const rough = (high - low) / count || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
    const places = Math.max(0, -Math.floor(Math.log10(step)));
    const first = Math.ceil(low / step - 1e-9);
    const found = [];
    for (let i = first; i * step <= high + step * 1e-9; i++) {
      found.push([i * step, (i * step).toFixed(places).replace("-", "\u2212").replace(/^\u2212(0(\.0*)?)$/, "$1")]);
    }
    return found;
  };

  const start = (root) => {
    root.dataset.rxReady = "";
    const spec = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    const [view, readout] = [".rx-view", ".rx-readout"].map((name) => root.querySelector(name));
    const fields = spec.controls.map((control) => root.querySelector(`#${spec.id}-${control.name}`));
    const presses = new Map();
    const state = {};

    const read = (control, field) => {
      if (control.kind === "button") return presses.get(field) ?? 0;
      if (control.kind === "number") return field.valueAsNumber;
      if (control.kind === "text") {
        return [...field.value].filter((s) => control.alphabet === null || control.alphabet.includes(s)).join("");
      }
      return control.values[Number(field.value)];
    };

    const frame = () => {
      if (!spec.frames) return revive(spec.data, spec.pool);
      const place = spec.controls.reduce((sum, c, i) => sum * c.values.length + Number(fields[i].value), 0);
      return revive(spec.frames[place], spec.pool);
    };

    const say = (text) => {
      if (readout.textContent !== text) readout.textContent = text;
    };

    const tell = (control, field) => {
      const text = control.texts[Number(field.value)];
      field.setAttribute("aria-valuetext", text);
      const [previous, value, next] = field.previousElementSibling.children;
      value.textContent = text;
      previous.setAttribute("aria-disabled", field.value === field.min);
      next.setAttribute("aria-disabled", field.value === field.max);
    };

    // For views whose controls depend on one another; `last` is the last value that a slider may take.
    const set = (name, value, last) => {
      const i = spec.controls.findIndex((control) => control.name === name);
      const [control, field] = [spec.controls[i], fields[i]];
      if (!control.values) return void (field.value = value);
      if (last !== undefined) field.max = control.values.indexOf(last);
      field.value = control.values.indexOf(value);
      if (control.kind === "slider") tell(control, field);
    };

    const update = () => {
      const values = {};
      spec.controls.forEach((control, i) => {
        values[control.name] = read(control, fields[i]);
        if (control.kind === "text" && fields[i].value !== values[control.name]) fields[i].value = values[control.name];
        if (control.kind === "slider") tell(control, fields[i]);
      });
      const shown = frame();
      const helpers = { svg: element, ticks, state, set, alt: spec.alt, width: view.clientWidth || 640 };
      try {
        say(render(view, shown, values, helpers) ?? shown?.readout ?? "");
      } catch (error) {
        say(`This picture failed: ${error.message}`);
        console.error(error);
      }
    };

    fields.forEach((field) => {
      if (field.type === "button") {
        field.addEventListener("click", () => {
          presses.set(field, (presses.get(field) ?? 0) + 1);
          update();
        });
      } else field.addEventListener("input", update);
      if (field.type !== "range") return;
      const [previous, , next] = field.previousElementSibling.children;
      const step = (by) => {
        field.value = Number(field.value) + by; // the field itself stops at its ends
        update();
      };
      previous.addEventListener("click", () => step(-1));
      next.addEventListener("click", () => step(1));
    });
    const controls = root.querySelector("fieldset");
    if (controls) controls.disabled = false;
    update();

    let width = view.clientWidth;
    new ResizeObserver(() => {
      if (view.clientWidth === width || !view.clientWidth) return;
      width = view.clientWidth;
      requestAnimationFrame(update);
    }).observe(view);
  };

  const begin = (tries) => {
    const roots = document.querySelectorAll('[data-rx="__NAME__"]:not([data-rx-ready])');
    roots.forEach(start);
    if (!roots.length && tries) setTimeout(begin, 50, tries - 1); // an output may run before it is attached
  };
  begin(40);
}
