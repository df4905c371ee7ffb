// A figure with its texts, choices, legend and downloads.

/**
 * Inserts `figure` into the page. The returned function draws it, then redraws it whenever its width
 * or a choice changes.
 */
function present(figure) {
  const place = document.getElementById(figure.place);
  const title = `title-${figure.id}`;
  const stage = element("div", {
    class: "stage", tabindex: "0", role: "group", "aria-roledescription": "figure",
    "aria-label": `${figure.title}. Use the arrow keys to read its values.`,
  });
  const said = element("p", { class: "unseen", "aria-live": "polite" });
  const caption = element("p", { class: "caption" });
  const keys = element("div", {});
  const meaning = element("p", { class: "note meaning" });
  const card = element("article", { class: "card figure", id: figure.id, "aria-labelledby": title },
    element("h3", { id: title }, figure.title),
    figure.note ? element("p", { class: "note" }, figure.note) : null,
  );
  const state = { view: figure.views[0], hidden: new Set(), width: 0, node: null };
  const draw = (focus) => {
    const shown = { ...state.view, series: state.view.series.filter((one) => !state.hidden.has(one.name)) };
    const drawing = shapes[figure.shape](shown.series.length ? shown : state.view, state.width);
    drawing.node.setAttribute("aria-hidden", "true");
    state.node = drawing.node;
    stage.replaceChildren(drawing.node);
    readable(stage, drawing, said);
    caption.textContent = state.view.caption;
    meaning.replaceChildren(...meanings(figure, state.view));
    keys.replaceChildren(...[legend(figure, state.view, state.hidden, draw)].filter(Boolean));
    if (focus) [...keys.querySelectorAll("button")].find((one) => one.textContent === focus)?.focus();
  };
  const controls = chooser(figure, state, () => draw());
  card.append(...[controls, meaning, keys, stage, caption, said].filter(Boolean), downloads(figure, state));
  place.append(card);
  const fit = () => {
    const width = stage.clientWidth;
    if (width < 50 || Math.abs(width - state.width) < 2) return;
    state.width = width;
    draw();
  };
  return () => {
    fit();
    // In the next frame: an observer must not change the size that it observes.
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(stage);
  };
}

/** Explanations of the chosen options, where there are any. */
function meanings(figure, view) {
  return figure.choosers.flatMap(({ options, help }, at) => {
    const text = help?.[view.choice[at]];
    return text ? [element("strong", {}, `${options[view.choice[at]]}: `), text] : [];
  });
}

/** A drop-down list for each choice with more than one option. */
function chooser(figure, state, draw) {
  const selects = figure.choosers.map(({ name, options }, at) => {
    const select = element("select", {
      onchange: () => {
        state.view = nearest(figure, state.view, at, Number(select.value));
        selects.forEach((other, place) => { other.value = String(state.view.choice[place]); });
        draw();
      },
    }, ...options.map((option, number) => element("option", { value: number }, option)));
    return select;
  });
  const labels = selects.map((select, at) => figure.choosers[at].options.length > 1
    ? element("label", {}, `${figure.choosers[at].name} `, select)
    : null);
  selects.forEach((select, at) => { select.value = String(state.view.choice[at]); });
  const seen = labels.filter(Boolean);
  return seen.length ? element("div", { class: "choices" }, ...seen) : null;
}

/** The view with the new choice that shares most other choices with the current one. */
function nearest(figure, view, at, option) {
  const those = figure.views.filter((one) => one.choice[at] === option);
  const common = (one) => one.choice.filter((value, place) => value === view.choice[place]).length;
  return d3.greatest(those, common) ?? view;
}

function downloads(figure, state) {
  const button = (text, name, act) => element("button", {
    type: "button", "aria-label": `${figure.title} as ${name}`, onclick: act,
  }, text);
  return element("div", { class: "downloads" },
    button("SVG", "SVG", () => saveSvg(figure, state.view, state.node)),
    button("PNG", "PNG", () => savePng(figure, state.view, state.node)),
    button("CSV", "CSV, all choices", () => saveCsv(figure)),
  );
}
