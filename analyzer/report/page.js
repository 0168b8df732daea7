"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const root = document.documentElement;

  // Light or dark: what the system says, until the reader says otherwise.
  const button = document.getElementById("theme");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  button.hidden = false;
  name();

  // Kernels by verdict.
  const filters = all(".filters button");
  const choose = (verdict) => {
    for (const filter of filters) filter.setAttribute("aria-pressed", String(filter.dataset.verdict === verdict));
    for (const item of all("[data-of]")) item.hidden = verdict !== "all" && item.dataset.of !== verdict;
  };
  for (const filter of filters) filter.addEventListener("click", () => choose(filter.dataset.verdict));
  for (const box of all(".filters")) box.hidden = false;
  // A link to a kernel that is filtered out shows it.
  addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("[data-of][hidden]")) choose("all");
    if (target && target.matches("details")) target.open = true;
    if (target) target.scrollIntoView();
  });

  // A step is the same thing in the drawing, in the list and beside the source.
  for (const box of all("[data-steps]")) {
    const light = (step) => {
      for (const part of all("[data-step]", box)) part.classList.toggle("lit", step !== null && part.dataset.step === step);
    };
    const of = (event) => event.target.closest("[data-step]");
    box.addEventListener("pointerover", (event) => light(of(event) ? of(event).dataset.step : null));
    box.addEventListener("pointerleave", () => light(null));
    box.addEventListener("focusin", (event) => light(of(event) ? of(event).dataset.step : null));
    box.addEventListener("focusout", () => light(null));
  }

  // On paper nothing can be opened.
  let closed = [];
  addEventListener("beforeprint", () => { closed = all("details:not([open])"); for (const part of closed) part.open = true; });
  addEventListener("afterprint", () => { for (const part of closed) part.open = false; });
})();
