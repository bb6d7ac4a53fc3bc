// The sample browser: a list that is searched, and the answer chosen from it.
(() => {
  const MOST = 300; // lines in the list at once; the search covers all
  const names = [
    "run", "task", "item", "decoder", "size", "correct", "differs", "text", "answer", "by",
    "finish", "tokens", "forwards",
  ];
  const texts = new Set(["task", "item", "decoder", "text", "answer", "by", "finish"]);
  const samples = data.samples.map((line) =>
    Object.fromEntries(
      names.map((name, at) => [name, texts.has(name) ? data.strings[line[at]] : line[at]]),
    ),
  );
  const severalSizes = new Set(samples.map((sample) => sample.size)).size > 1;
  const list = byId("sample-list");
  const selects = [
    ["run", byId("sample-run"), (sample) => data.runs[sample.run]],
    ["task", byId("sample-task"), (sample) => sample.task],
    ["decoder", byId("sample-decoder"), (sample) => sample.decoder],
  ];
  const search = byId("sample-text");
  const [wrong, differs] = [byId("sample-wrong"), byId("sample-differs")];
  let shown = [];
  let at = 0;

  function verdict(sample) {
    if (sample.finish === "failed") return make("span", "no", "failed");
    if (sample.correct < 0) return make("span", "muted", "not scored");
    return sample.correct ? make("span", "yes", "✓ right") : make("span", "no", "✗ wrong");
  }

  function line(sample, number) {
    const option = make("div");
    option.role = "option";
    option.id = `sample-${number}`;
    option.append(verdict(sample), ` ${sample.item}`);
    const sub = make("span", "sub", sample.decoder);
    if (severalSizes) sub.append(`, batch size ${sample.size}`);
    if (sample.differs > 0) sub.append(" · differs from its reference");
    option.append(sub);
    option.addEventListener("click", () => choose(number));
    return option;
  }

  function fact(facts, name, value) {
    facts.append(make("dt", "", name));
    const held = make("dd");
    held.append(value);
    facts.append(held);
  }

  function card(sample) {
    const article = byId("sample-card");
    article.replaceChildren();
    if (!sample) {
      article.append(make("p", "muted", "No sample fits the filters."));
      return;
    }
    article.append(make("h3", "", sample.item));
    const facts = make("dl", "facts");
    if (data.runs.length > 1) fact(facts, "run", data.runs[sample.run]);
    fact(facts, "decoder", make("code", "", sample.decoder));
    if (severalSizes) fact(facts, "batch size", String(sample.size));
    fact(facts, "result", verdict(sample));
    if (sample.finish !== "failed") {
      const by = sample.by === "none" || !sample.by ? "" : ` (${sample.by})`;
      fact(facts, "answer", sample.answer === undefined ? "none" : `${sample.answer}${by}`);
      const agreement = ["the same ids as its reference", "other ids than its reference"];
      fact(facts, "agreement", agreement[sample.differs] ?? "not known");
      fact(facts, "end", { eos: "by itself", stop: "at a stop string", length: "cut off" }[sample.finish]);
      fact(facts, "length", `${sample.tokens} tokens in ${sample.forwards} forwards`);
    }
    article.append(facts, make("div", "text", sample.text));
    if (findTrace(sample) !== undefined) {
      const button = make("button", "", "Show how it was decoded");
      button.type = "button";
      button.addEventListener("click", () => {
        showTrace(findTrace(sample));
        byId("traces").scrollIntoView();
      });
      article.append(make("p"), button);
    }
  }

  function choose(number) {
    at = Math.max(0, Math.min(number, Math.min(shown.length, MOST) - 1));
    for (const option of list.querySelectorAll('[aria-selected="true"]')) {
      option.setAttribute("aria-selected", "false");
    }
    const option = list.children[at];
    list.removeAttribute("aria-activedescendant");
    if (shown.length) {
      option.setAttribute("aria-selected", "true");
      list.setAttribute("aria-activedescendant", option.id);
      // scrollIntoView would move the page as well.
      const [top, bottom] = [option.offsetTop - list.offsetTop, option.offsetHeight];
      if (top < list.scrollTop) list.scrollTop = top;
      else if (top + bottom > list.scrollTop + list.clientHeight) {
        list.scrollTop = top + bottom - list.clientHeight;
      }
    }
    card(shown[at]);
  }

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = samples.filter((sample) => {
      if (wrong.checked && sample.correct !== 0 && sample.finish !== "failed") return false;
      if (differs.checked && sample.differs !== 1) return false;
      if (selects.some(([, select, value]) => select?.value && value(sample) !== select.value)) {
        return false;
      }
      if (!words.length) return true;
      const found = `${sample.item}\n${sample.answer ?? ""}\n${sample.text}`.toLowerCase();
      return words.every((word) => found.includes(word));
    });
    list.replaceChildren(...shown.slice(0, MOST).map(line));
    const first = shown.length > MOST ? `, the first ${MOST} listed` : "";
    byId("sample-count").textContent = `${shown.length} of ${samples.length} answers${first}`;
    choose(0);
  }

  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(at + step);
  });
  for (const [, select] of selects) select?.addEventListener("change", filter);
  for (const box of [wrong, differs]) box.addEventListener("change", filter);
  search.addEventListener("input", filter);
  byId("sample-note").textContent =
    "Prompts are not kept in a run's records." +
    (data.shown < data.items ? ` Here are the first ${data.shown} of ${data.items} items, evenly from all tasks; the run folder has all.` : "");
  filter();
})();
