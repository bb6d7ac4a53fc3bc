"use strict";
// What the other scripts share: finding elements, making them, the data.
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);

// An element with a class and a text. Texts are never read as HTML.
function make(tag, css, text) {
  const element = document.createElement(tag);
  if (css) element.className = css;
  if (text !== undefined) element.textContent = text;
  return element;
}

function fill(select, values) {
  select.replaceChildren(
    ...values.map(([value, text]) => {
      const option = make("option", "", text);
      option.value = value;
      return option;
    }),
  );
}

// The theme follows the system until the button says otherwise.
(() => {
  const button = byId("theme");
  const order = ["auto", "light", "dark"];
  // Pages from a file may have no storage.
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const show = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  let theme = order.includes(stored()) ? stored() : "auto";
  show(theme);
  button.addEventListener("click", () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    show(theme);
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // It then lasts as long as the page.
    }
  });
})();
