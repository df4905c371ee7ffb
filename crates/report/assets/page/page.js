// The page comes to life: figures are drawn when they come near, and anew when their width changes.
"use strict";
(() => {
  const { figures } = JSON.parse(document.getElementById("data").textContent);
  const mounted = new Map(figures.map((figure) => {
    const made = trackbedFigure.mount(figure);
    return [made.place, { ...made, width: 0 }];
  }));
  const draw = (place) => {
    const figure = mounted.get(place);
    if (figure.width === place.clientWidth) return;
    figure.width = place.clientWidth;
    figure.draw();
  };
  const seen = new Set();
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((entry) => entry.isIntersecting)) {
      seen.add(entry.target);
      draw(entry.target);
    }
  }, { rootMargin: "600px" });
  const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => seen.has(target) && draw(target)));
  for (const place of mounted.keys()) { near.observe(place); resized.observe(place); }
  // On paper there is no scrolling.
  const drawAll = () => mounted.forEach((_, place) => { seen.add(place); draw(place); });
  addEventListener("beforeprint", drawAll);

  const root = document.documentElement;
  const theme = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  name();
  window.trackbedReport = { drawAll };
})();
