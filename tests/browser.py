"""A page of a run, open in Chromium, and what can be read off it."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

# Every element that has text of its own and can be seen, with its contrast to what lies behind it.
CONTRASTS = """() => {
  const light = (rgb) => {
    const part = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((v) => part(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const numbers = (css) => css.match(/[\\d.]+/g).map(Number);
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = numbers(getComputedStyle(each).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.closest("script, title") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const ink = numbers(element.closest("svg") ? style.fill : style.color).slice(0, 3);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), `${element.tagName}.${element.getAttribute("class")}`]);
  }
  return found;
}"""


@dataclass
class Opened:
    """A page and what went wrong in it."""

    page: Page
    complaints: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])


def open_page(browser: Browser, path: Path) -> Iterator[Opened]:
    """The page, open; at the end nothing may have been complained of or fetched."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    found = Opened(context.new_page())
    found.page.set_default_timeout(120_000)
    context.on("request", lambda request: found.requests.append(request.url))
    found.page.on("console", lambda message: found.complaints.append(message.text))
    found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
    found.page.on("dialog", lambda dialog: found.complaints.append(dialog.message))
    found.page.goto(path.as_uri())
    yield found
    assert found.complaints == []
    assert found.requests == [path.as_uri()]
    context.close()


def load_seconds(page: Page) -> float:
    """From the request to the end of the load event."""
    return page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd / 1000")


def column(page: Page, table: str, number: int) -> list[str]:
    """The texts of a column's visible cells."""
    cells = page.locator(f"#{table} tbody tr:visible > :nth-child({number})")
    return cells.all_inner_texts()


def brightness(screenshot: bytes) -> float:
    """Mean of the picture, 0-255; a picture of one colour is an error."""
    image = Image.open(io.BytesIO(screenshot)).convert("L")
    counts = image.histogram()
    assert sum(count > 0 for count in counts) > 50
    return sum(level * count for level, count in enumerate(counts)) / sum(counts)
