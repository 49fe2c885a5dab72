"use strict";
(() => {
  const root = document.documentElement;
  const dark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  const theme = document.getElementById("theme");
  const name = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  theme.hidden = false;
  name();

  // A chart takes the place of its still picture only once it is drawn.
  const draw = async (place) => {
    const spec = JSON.parse(document.getElementById(`spec-${place.dataset.chart}`).textContent);
    const still = [...place.childNodes];
    const live = document.createElement("div");
    place.append(live);
    const { view } = await vegaEmbed(live, spec, {
      actions: false, ast: true, defaultStyle: false, renderer: "svg", mode: "vega-lite",
      tooltip: { disableDefaultStyle: true, theme: "report" },
    });
    still.forEach((node) => node.remove());
    // The sentence beside it speaks for the picture.
    live.querySelector("svg").setAttribute("aria-hidden", "true");
    place.classList.add("live");
    return view;
  };

  const views = [];
  for (const figure of document.querySelectorAll("figure")) {
    const place = figure.querySelector(".chart");
    if (!place) continue;
    // What is folded away has no width to be drawn in.
    const folded = place.closest("details");
    const seen = folded ? new Promise((open) => folded.addEventListener("toggle", open, { once: true })) : null;
    const drawn = (async () => { await seen; return draw(place); })();
    drawn.then((view) => views.push(view), (wrong) => console.error(wrong));
    const keys = [...figure.querySelectorAll("button.key")];
    for (const key of keys) {
      key.addEventListener("click", async () => {
        key.setAttribute("aria-pressed", String(key.getAttribute("aria-pressed") !== "true"));
        const shown = keys.filter((one) => one.getAttribute("aria-pressed") === "true").map((one) => one.dataset.attack);
        await (await drawn).signal("shown", shown).runAsync();
      });
    }
  }

  // Paper has no button to open what is folded, and charts are drawn in its width, so that words keep their size.
  const paper = 660;
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((one) => { one.open = true; });
    views.forEach((view) => view.width(paper).run());
  });
  addEventListener("afterprint", () => {
    opened.forEach((one) => { one.open = false; });
    dispatchEvent(new Event("resize"));
  });
})();
