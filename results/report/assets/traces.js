// The trace viewer: two decoders on the same item, step by step.
const sameItem = (a, b) => a.run === b.run && a.task === b.task && a.item === b.item;

// The trace of a sample, if the page holds it.
function findTrace(sample) {
  return data.traces.find((trace) => sameItem(trace, sample) && trace.decoder === sample.decoder);
}

function showTrace(trace) {
  const item = traceItems.findIndex((each) => sameItem(each, trace));
  byId("trace-item").value = item;
  chooseItem(trace.decoder);
}

// One trace of each item stands for it.
const traceItems = data.traces.filter(
  (trace, at) => data.traces.findIndex((other) => sameItem(trace, other)) === at,
);
let chooseItem = () => {};

(() => {
  if (!data.traces.length) {
    byId("no-traces").hidden = false;
    return;
  }
  byId("trace-viewer").hidden = false;
  if (data.traces.length < data.traced) {
    byId("trace-note").textContent = `${data.traces.length} of ${data.traced} traces are in this page.`;
  }
  const slider = byId("trace-step");
  const picks = [byId("trace-a"), byId("trace-b")];
  const sides = [byId("side-a"), byId("side-b")];
  let members = [];

  const percent = (thousandths) => `${(thousandths / 10).toFixed(1)} %`;
  const name = (trace) =>
    (data.runs.length > 1 ? `${data.runs[trace.run]}: ` : "") +
    (trace.item.startsWith(trace.task) ? trace.item : `${trace.task} – ${trace.item}`);

  // What can't be seen is shown by a sign.
  function write(element, text) {
    if (text === "") element.append(make("span", "sign", "◌"));
    for (const part of text.split(/(\n)/)) {
      if (part === "\n") element.append(make("span", "sign", "↵"), part);
      else element.append(part);
    }
  }

  function token(text, confidence, where, css) {
    const span = make("span", css);
    span.role = "listitem";
    span.tabIndex = -1;
    write(span, text);
    span.dataset.tip = `${where}, confidence ${percent(confidence)}`;
    span.setAttribute("aria-label", `${text.trim() || "space"}, ${span.dataset.tip}`);
    return span;
  }

  // What the answer's last step did not keep was no refusal of the decoder: it ends the answer,
  // or lies past its end.
  const fate = (isKept, isLast) => (isKept ? "kept" : isLast ? "not counted" : "rejected");

  function proposals(step, number, isLast) {
    const box = make("div", "proposals");
    const [isPrefill, kept, texts, confidences] = step;
    const kind = isPrefill ? "the prompt's forward" : "decode";
    box.append(make("div", "muted", `Step ${number}, ${kind}: ${kept} of ${texts.length} proposed tokens kept`));
    const table = make("table");
    texts.forEach((text, at) => {
      const row = table.insertRow();
      row.append(make("td", "left mono", JSON.stringify(text)), make("td", "", percent(confidences[at])));
      const [css, sign] = at < kept ? ["yes", "✓"] : isLast ? ["muted", "–"] : ["no", "✗"];
      row.append(make("td", `left ${css}`, `${sign} ${fate(at < kept, isLast)}`));
    });
    box.append(table);
    return box;
  }

  function draw(side, trace, at) {
    const steps = trace.steps.slice(0, Math.min(at, trace.steps.length));
    const text = make("div", "tokens");
    text.role = "list";
    text.setAttribute("aria-label", "tokens, arrow keys go through them");
    let tokens = 0;
    steps.forEach(([, kept, texts, confidences], index) => {
      const now = index === steps.length - 1;
      const isLast = index === trace.steps.length - 1;
      texts.forEach((proposed, place) => {
        const isKept = place < kept;
        if (!isKept && !now) return;
        const where = `step ${index + 1}, proposal ${place + 1} of ${texts.length}, ${fate(isKept, isLast)}`;
        const css = isKept
          ? `tok t${index % 6}${place === 0 ? " first" : ""}${now ? " now" : ""}`
          : `tok ${isLast ? "past" : "rejected"}`;
        text.append(token(proposed, confidences[place], where, css));
        tokens += isKept;
      });
    });
    // One stop for the tab key; the arrow keys do the rest.
    if (text.firstChild) text.lastChild.tabIndex = 0;
    const over = at > trace.steps.length ? `, ended at step ${trace.steps.length}` : "";
    side.replaceChildren(
      make("h3", "mono", trace.decoder),
      make("p", "muted", `${tokens} tokens after ${steps.length} of ${trace.steps.length} steps${over}`),
      text,
    );
    if (steps.length) side.append(proposals(steps.at(-1), steps.length, steps.length === trace.steps.length));
  }

  function show() {
    const at = Number(slider.value);
    byId("trace-at").textContent = `step ${at} of ${slider.max}`;
    slider.setAttribute("aria-valuetext", `step ${at} of ${slider.max}`);
    hideTip();
    picks.forEach((pick, side) => draw(sides[side], members[pick.value], at));
  }

  // The slider spans the longer of the two; the shorter one just stays at its end.
  function chooseDecoders() {
    const steps = picks.map((pick) => members[pick.value].steps.length);
    slider.max = Math.max(...steps);
    slider.value = slider.max;
    byId("trace-prompt").textContent = members[picks[0].value].prompt;
    show();
  }

  chooseItem = (right) => {
    const item = traceItems[byId("trace-item").value];
    const before = picks.map((pick) => members[pick.value]?.decoder);
    members = data.traces.filter((trace) => sameItem(trace, item));
    for (const pick of picks) fill(pick, members.map((trace, at) => [at, trace.decoder]));
    const wanted = [before[0] ?? members[0].decoder, right ?? before[1] ?? members.at(-1).decoder];
    picks.forEach((pick, side) => {
      const at = members.findIndex((trace) => trace.decoder === wanted[side]);
      pick.value = at < 0 ? (side ? members.length - 1 : 0) : at;
    });
    chooseDecoders();
  };

  const tip = byId("tooltip");
  function showTip(span) {
    tip.textContent = span.dataset.tip;
    tip.hidden = false;
    const box = span.getClientRects()[0] ?? span.getBoundingClientRect();
    const left = Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left) + scrollX}px`;
    tip.style.top = `${box.top + scrollY - tip.offsetHeight - 6}px`;
  }
  function hideTip() {
    tip.hidden = true;
  }

  for (const side of sides) {
    for (const event of ["mouseover", "focusin"]) {
      side.addEventListener(event, ({ target }) => {
        const span = target.closest(".tok");
        if (span) showTip(span);
      });
    }
    for (const event of ["mouseout", "focusout"]) side.addEventListener(event, hideTip);
    side.addEventListener("keydown", (event) => {
      const span = event.target.closest(".tok");
      if (!span) return;
      if (event.key === "Escape") hideTip();
      const next = {
        ArrowRight: span.nextElementSibling,
        ArrowLeft: span.previousElementSibling,
        Home: span.parentElement.firstElementChild,
        End: span.parentElement.lastElementChild,
      }[event.key];
      if (!next) return;
      event.preventDefault();
      span.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
  slider.addEventListener("input", show);
  for (const [id, by] of [["trace-back", -1], ["trace-on", 1]]) {
    byId(id).addEventListener("click", () => {
      slider.value = Number(slider.value) + by;
      show();
    });
  }
  fill(byId("trace-item"), traceItems.map((trace, at) => [at, name(trace)]));
  byId("trace-item").addEventListener("change", () => chooseItem());
  for (const pick of picks) pick.addEventListener("change", chooseDecoders);
  chooseItem();
})();
