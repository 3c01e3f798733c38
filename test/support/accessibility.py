"""Check a page's accessibility in a browser: contrast, names, and reduced motion."""

from __future__ import annotations

from typing import Any

__all__ = ["faint_texts", "nameless"]

# WCAG 2.2 AA: 4.5 to 1, or 3 to 1 for large text. Disabled controls and texts without letters do not count.
_FAINT = r"""
    const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    const parse = (text) => {
      const found = /rgba?\(([^)]*)\)/.exec(text);
      if (!found) return [0, 0, 0, 0];
      const [red, green, blue, alpha = 1] = found[1].split(/[ ,/]+/).map(Number);
      return [red, green, blue, alpha];
    };
    const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
    const ratio = (one, other) => {
      const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
      return (high + 0.05) / (low + 0.05);
    };
    const ground = parse(getComputedStyle(document.body).backgroundColor);
    const behind = (node) => {
      const layers = [];
      for (let each = node; each; each = each.parentElement) {
        const inDrawing = each instanceof SVGElement && !(each instanceof SVGSVGElement);
        const isGroup = inDrawing && each !== node;
        const shape = isGroup ? each.querySelector(":scope > rect.body, :scope > rect:not(.halo)") : null;
        if (shape) layers.push(parse(getComputedStyle(shape).fill));
        if (!inDrawing) layers.push(parse(getComputedStyle(each).backgroundColor));
        if (layers.at(-1)?.[3] === 1) break;
      }
      return layers.reverse().reduce((below, layer) => over(layer, below), ground);
    };
    const faint = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement;
      const text = walker.currentNode.data.trim();
      const isVisible = node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (!/[\p{L}\p{N}]/u.test(text) || !isVisible) continue;
      if (node.closest("noscript, title, option, :disabled, [inert], .hidden, script, style")) continue;
      const style = getComputedStyle(node);
      const colour = parse(node instanceof SVGElement ? style.fill : style.color);
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      const below = behind(node);
      const found = ratio(over(colour, below), below);
      const place = `${node.tagName}.${node.getAttribute("class") ?? ""}`;
      if (found < (isLarge ? 3 : 4.5)) faint.push(`${found.toFixed(2)} ${place}: ${text.slice(0, 40)}`);
    }
    return [...new Set(faint)];
"""

_NAMELESS = """
    const labelled = (each) => (each.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean)
      .map((id) => document.getElementById(id)?.textContent).join(" ");
    const name = (each) => each.getAttribute("aria-label") || labelled(each) || each.textContent
      || each.closest("label")?.textContent || each.title;
    const roles = "[role=button], [role=tab], [role=menu], [role=menuitem], [role=tabpanel], [role=toolbar]";
    return [...document.querySelectorAll(`button, select, input, summary, a[href], ${roles}`)]
      .filter((each) => each.checkVisibility() && !each.closest("[inert]") && !/[\\p{L}\\p{N}]/u.test(name(each) ?? ""))
      .map((each) => each.outerHTML.slice(0, 200));
"""


def faint_texts(driver: Any) -> list[str]:
    """Return the visible texts whose contrast is below WCAG's level AA, each with its contrast."""
    return [str(each) for each in driver.execute_script(_FAINT)]


def nameless(driver: Any) -> list[str]:
    """Return the visible controls without a name for screen readers; a symbol alone is none."""
    return [str(each) for each in driver.execute_script(_NAMELESS)]
