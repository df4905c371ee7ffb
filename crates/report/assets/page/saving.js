// Figures as files: SVG and PNG as they are seen, and what is drawn as CSV.
"use strict";
const trackbedSaving = (() => {
  const save = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // Outside of the page nobody knows its colours: variables become what they are.
  const standalone = (svg) => {
    const style = getComputedStyle(document.documentElement);
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("font-family", "sans-serif");
    copy.setAttribute("fill", style.getPropertyValue("--ink").trim());
    copy.style.background = style.getPropertyValue("--paper").trim();
    copy.style.color = style.getPropertyValue("--ink").trim();
    const text = new XMLSerializer().serializeToString(copy);
    return text.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  };

  const saveSvg = (svg, name) => save(new Blob([standalone(svg)], { type: "image/svg+xml" }), name + ".svg");

  const savePng = (svg, name) => {
    const scale = 2;
    const box = svg.getBoundingClientRect();
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [box.width * scale, box.height * scale];
      const context = canvas.getContext("2d");
      context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, name + ".png"));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(standalone(svg));
  };

  const quoted = (value) => {
    const text = value == null ? "" : String(value);
    return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };

  // Every panel, not only the one that is seen.
  const table = (figure) => {
    const axis = (axis) => axis.label + (axis.unit ? ` (${axis.unit})` : "");
    const rows = [["condition", "series", "name", axis(figure.x), axis(figure.y), "low", "high", "smallest", "p95"]];
    for (const panel of figure.panels) {
      for (const series of panel.series) {
        for (const point of series.points) {
          const [low, high] = point.interval ?? [];
          const [smallest, p95] = point.range ?? [];
          rows.push([panel.name, series.name, point.name, point.x, point.y, low, high, smallest, p95]);
        }
      }
    }
    return rows;
  };

  const saveCsv = (figure) => {
    const text = table(figure).map((row) => row.map(quoted).join(",")).join("\n") + "\n";
    save(new Blob([text], { type: "text/csv" }), figure.id + ".csv");
  };

  return { saveSvg, savePng, saveCsv, table };
})();
