// Starts all figures, and records errors on the root element for tests and bug reports.

const root = document.documentElement;
const errors = [];
addEventListener("error", (event) => {
  errors.push(event.message);
  root.dataset.errors = errors.join("\n");
});
themeChooser();
for (const figure of data.figures) {
  try {
    present(figure);
  } catch (error) {
    errors.push(`${figure.id}: ${error.stack ?? error}`);
    document.getElementById(figure.id)?.append(
      element("p", { class: "bad" }, `The values of "${figure.title}" cannot be read: ${error.message}`));
  }
}
if (errors.length) root.dataset.errors = errors.join("\n");
root.dataset.figures = data.figures.length;
root.dataset.drawn = performance.now().toFixed(0);
