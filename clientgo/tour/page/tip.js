// The whole of the texts that have no room in the picture, beside the card or the key that has the pointer or the focus.
// Screen readers read the names of cards and keys, which are never shortened.

import { $ } from "/page/shell.js";

export function tips(svg) {
  const tip = $("tip");
  const show = (event) => {
    const node = event.target.closest?.(".chip, .card");
    const texts = node ? [...node.querySelectorAll("[data-full]")].filter((each) => node.matches(".chip") || !each.closest(".chip")).map((each) => each.dataset.full) : [];
    tip.hidden = !texts.length;
    if (tip.hidden) return;
    tip.replaceChildren(...texts.map((text) => Object.assign(document.createElement("div"), { textContent: text })));
    const box = node.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${box.bottom + 4 + tip.offsetHeight < innerHeight ? box.bottom + 4 : Math.max(8, box.top - tip.offsetHeight - 4)}px`;
  };
  const hide = () => { tip.hidden = true; };
  for (const kind of ["pointerover", "focusin"]) svg.addEventListener(kind, show);
  for (const kind of ["pointerleave", "focusout"]) svg.addEventListener(kind, hide);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}
