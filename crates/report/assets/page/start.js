// Draws everything, and records errors on the root element for tests and bug reports.

const root = document.documentElement;
const errors = [];
addEventListener("error", (event) => {
  errors.push(event.message);
  root.dataset.errors = errors.join("\n");
});
themeChooser();
const attempt = (figure, act) => {
  try {
    return act();
  } catch (error) {
    errors.push(`${figure.id}: ${error.stack ?? error}`);
    document.getElementById(figure.place)?.append(
      element("p", { class: "bad" }, `"${figure.title}" could not be drawn: ${error.message}`));
    return () => {};
  }
};
// All figures are placed before the first is drawn, so that none changes the width of another.
const drawn = data.figures.map((figure) => [figure, attempt(figure, () => present(figure))]);
drawn.forEach(([figure, draw]) => attempt(figure, draw));
if (errors.length) root.dataset.errors = errors.join("\n");
root.dataset.figures = data.figures.length;
root.dataset.drawn = performance.now().toFixed(0);
