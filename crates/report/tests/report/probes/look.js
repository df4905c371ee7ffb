const root = document.documentElement;
const all = (selector) => [...document.querySelectorAll(selector)];
all('details').forEach((details) => { details.open = true; });
for (const select of all('select')) for (const option of select.options) {
    select.value = option.value;
    select.dispatchEvent(new Event('change'));
}
const figures = all('.figure');
const box = (svg) => svg.getBoundingClientRect();
const seen = all('.figure .stage > svg').filter((svg) => box(svg).height > 40);
const letters = seen.map((svg) => 12 * box(svg).width / svg.viewBox.baseVal.width);
const ids = all('[id]').map((one) => one.id);
const wrong = {
    errors: root.dataset.errors,
    drawn: seen.length !== figures.length || figures.length !== Number(root.dataset.figures),
    marks: seen.some((svg) => svg.querySelectorAll('path').length < 4),
    letters: letters.some((size) => size < 8.5 || size > 17) && letters,
    broken: seen.some((svg) => /NaN|undefined/.test(svg.outerHTML)),
    unlabelled: all('.stage, select, [role=region]')
        .some((one) => !(one.getAttribute('aria-label') || one.closest('label')?.textContent)),
    unreachable: all('button, select, a[href], summary, [role=region], .stage').some((one) => one.tabIndex < 0),
    images: document.images.length,
    requests: performance.getEntriesByType('resource').length,
    wide: root.scrollWidth > innerWidth,
    ids: ids.length !== new Set(ids).size,
};
return {
    wrong: Object.entries(wrong).filter(([, is]) => is), figures: figures.length,
    titles: [document.title, ...figures.map((figure) => figure.querySelector('h3').textContent)],
};
