// A figure as SVG or PNG, and its data as CSV. Each states its origin.

const PADDING = 16;
const PIXELS = 2;

function fileName(figure, ending) {
  const name = `${data.name}-${figure.id}`.replace(/[^A-Za-z0-9._-]+/g, "-");
  return `${name}.${ending}`;
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The drawing with title, caption and source, in colours that need no style sheet. */
function standalone(figure, view, node) {
  const { width, height } = node.viewBox.baseVal;
  const copy = node.cloneNode(true);
  for (const name of ["class", "data-axes", "aria-hidden"]) copy.removeAttribute(name);
  const place = { x: PADDING, y: 40, width, height };
  Object.entries(place).forEach(([name, value]) => copy.setAttribute(name, value));
  const drawing = new XMLSerializer().serializeToString(copy);
  const full = { width: width + 2 * PADDING, height: height + 84 };
  const source = data.model ? `MODEL, no measurement. ${data.source}` : data.source;
  const text = (x, y, size, weight, colour, content) => `<text x="${x}" y="${y}" font-size="${size}" `
    + `font-weight="${weight}" fill="var(--${colour})">${escaped(content)}</text>`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${full.width}" height="${full.height}" `
      + `viewBox="0 0 ${full.width} ${full.height}" font-family="Arial, Helvetica, sans-serif">`,
    `<rect width="100%" height="100%" fill="var(--card)"/>`,
    text(PADDING, 24, 15, 600, "ink", titleOf(figure, view)),
    drawing,
    text(PADDING, height + 56, 11, 400, "quiet", view.caption),
    text(PADDING, height + 72, 11, 400, "quiet", source),
    "</svg>",
  ];
  return { text: resolved(parts.join("")), ...full };
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Replaces custom properties with their values in this theme. */
function resolved(text) {
  const style = getComputedStyle(document.documentElement);
  return text.replace(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

function titleOf(figure, view) {
  const choices = view.choice.map((option, at) => `${figure.choosers[at].name} ${figure.choosers[at].options[option]}`);
  const said = figure.choosers.length ? `: ${choices.join(", ")}` : "";
  return `${data.name}: ${figure.title}${said}`;
}

function saveSvg(figure, view, node) {
  const { text } = standalone(figure, view, node);
  save(new Blob([text], { type: "image/svg+xml" }), fileName(figure, "svg"));
}

async function savePng(figure, view, node) {
  const { text, width, height } = standalone(figure, view, node);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = element("canvas", { width: width * PIXELS, height: height * PIXELS });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  save(blob, fileName(figure, "png"));
}

/** Every point of every view as a line: the choices, the series, and the values. */
function csv(figure) {
  // A text must not act as a formula in a spreadsheet.
  const isFormula = (value) => typeof value === "string" && /^[=+\-@\t\r]/.test(value) && Number.isNaN(Number(value));
  const quote = (value) => {
    const text = value === null || value === undefined ? "" : (isFormula(value) ? "'" : "") + value;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const columns = [...new Set(figure.views.flatMap((view) => view.plot.columns))];
  const heading = [
    ...figure.choosers.map((chooser) => chooser.name), "series", "x", "x name", "y", "y name", ...columns,
  ];
  const lines = figure.views.flatMap((view) => {
    const chosen = view.choice.map((option, at) => figure.choosers[at].options[option]);
    return view.plot.series.flatMap(([panel, name, points]) => points.map(([x, y, ...more]) => {
      const [across, upwards] = view.plot.axes[panel];
      const rest = columns.map((column) => more[view.plot.columns.indexOf(column)]);
      return [...chosen, name, x, across, upwards ? y : "", upwards, ...rest];
    }));
  });
  return [heading, ...lines].map((line) => line.map(quote).join(",")).join("\r\n") + "\r\n";
}

function saveCsv(figure) {
  save(new Blob([csv(figure)], { type: "text/csv" }), fileName(figure, "csv"));
}
