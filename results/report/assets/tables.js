// Tables: sorting by any column, and the filters of the summary.
(() => {
  // A cell's number, or its text; "–" and empty cells are null and stay last.
  const keyOf = (cell) => {
    const text = cell.textContent.trim();
    if (text === "" || text === "–") return null;
    const found = text.match(/^[<+]?(-?\d[\d,]*\.?\d*)/);
    return found && !cell.classList.contains("left") ? Number(found[1].replaceAll(",", "")) : text;
  };
  // Numbers within texts are decimals, so 0.82 comes before 0.9, and 9 before 10.
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    const [ours, theirs] = [a, b].map((text) => String(text).split(/(\d+(?:\.\d+)?)/));
    for (let at = 0; at < Math.min(ours.length, theirs.length); at++) {
      const order = at % 2 ? ours[at] - theirs[at] : ours[at].localeCompare(theirs[at], "en");
      if (order) return order;
    }
    return ours.length - theirs.length;
  };

  function sort(table, header) {
    const column = [...header.parentElement.children].indexOf(header);
    const down = header.getAttribute("aria-sort") === "ascending";
    for (const other of header.parentElement.children) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[column]) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
      return down ? compare(b.key, a.key) : compare(a.key, b.key);
    });
    body.append(...rows.map((each) => each.row));
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const button of table.querySelectorAll("button.sort")) {
      button.addEventListener("click", () => sort(table, button.closest("th")));
    }
  }

  const chosen = ["run", "task", "family", "size"].map((name) => [name, byId(`filter-${name}`)]);
  const text = byId("filter-text");
  function filter() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const table of document.querySelectorAll("table.filtered")) {
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const found = `${row.dataset.text} ${row.textContent}`.toLowerCase();
        row.hidden =
          chosen.some(([name, select]) => select?.value && row.dataset[name] !== select.value) ||
          words.some((word) => !found.includes(word));
        shown += !row.hidden;
      }
      if (table.id === "summary-table") {
        byId("filter-count").textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
      }
    }
  }
  for (const [, select] of chosen) select?.addEventListener("change", filter);
  text.addEventListener("input", filter);
  filter();
})();
