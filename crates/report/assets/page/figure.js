// A figure's choices, values and downloads. Its first view stands in the page.

/** Gives life to a figure. */
function present(figure) {
  const card = document.getElementById(figure.id);
  const stage = card.querySelector(".stage");
  const caption = card.querySelector(".caption");
  const said = element("p", { class: "unseen", "aria-live": "polite" });
  const meaning = element("p", { class: "note meaning" });
  const attributes = {
    tabindex: "0", role: "group", "aria-roledescription": "figure",
    "aria-label": `${figure.title}. Use the arrow keys to read its values.`,
  };
  Object.entries(attributes).forEach(([name, value]) => stage.setAttribute(name, value));
  const [state, first] = [{ view: figure.views[0] }, stage.innerHTML];
  const draw = () => {
    stage.innerHTML = state.view.svg || first;
    for (const svg of stage.querySelectorAll("svg")) svg.setAttribute("aria-hidden", "true");
    readable(stage, state.view, said);
    caption.textContent = state.view.caption;
    meaning.replaceChildren(...meanings(figure, state.view));
  };
  stage.before(...[chooser(figure, state, draw), meaning].filter(Boolean));
  card.append(said, downloads(figure, state, stage));
  draw();
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
  const selects = figure.choosers.map(({ options }, at) => {
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
  return least(those, (one) => -common(one)) ?? view;
}

function downloads(figure, state, stage) {
  const button = (text, name, act) => element("button", {
    type: "button", "aria-label": `${figure.title} as ${name}`, onclick: act,
  }, text);
  return element("div", { class: "downloads" },
    button("SVG", "SVG", () => saveSvg(figure, state.view, drawn(stage))),
    button("PNG", "PNG", () => savePng(figure, state.view, drawn(stage))),
    button("CSV", "CSV, all choices", () => saveCsv(figure)),
  );
}
