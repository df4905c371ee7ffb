const press = (stage, key) =>
    stage.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
return [...document.querySelectorAll('.figure')].map((figure) => {
    const stage = figure.querySelector('.stage');
    const said = figure.querySelector('[aria-live]');
    const heard = ['ArrowRight', 'ArrowRight', 'ArrowLeft'].map((key) => {
        press(stage, key);
        return said.textContent;
    });
    const visible = !stage.querySelector('.tip').hidden;
    press(stage, 'Escape');
    return { id: figure.id, tab: stage.tabIndex, named: !!stage.getAttribute('aria-label'),
             heard, visible, gone: stage.querySelector('.tip').hidden };
});
