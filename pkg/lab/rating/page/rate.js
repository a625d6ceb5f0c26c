'use strict';
// Texts of items come from anywhere: they are only ever put into text nodes, never read as HTML.

const LONGEST_SHOWN = 100000; // characters at a time: a browser takes minutes for a line of two million
const NEXT_DIGIT = 1000; // milliseconds in which a 0 behind a 1 makes 10
const SLIDERS = {
  pair: { question: 'Quality of the question', answer: 'Quality of the answer' },
  grade: { overall: 'Quality of the answer' },
};
const CHOICES = {
  A: ['1', 'a', 'Answer A is better'], B: ['2', 'b', 'Answer B is better'],
  C: ['3', 't', 'Both are as good'], D: ['4', 'w', 'Both are wrong'],
};
const TITLES = { pair: 'Rate question and answer', grade: 'Rate the answer', pairwise: 'Choose the better answer', create: 'Write a question and its answer' };
// What shows nothing, or turns the direction of writing, can hide what code does: shown spelled, as Python writes it.
const HIDDEN = /(?![\t\n])[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

const find = (id) => document.getElementById(id);
const make = (tag, options = {}, ...inside) => {
  const made = Object.assign(document.createElement(tag), options);
  made.append(...inside);
  return made;
};
const spell = (text) => text.replace(/\r\n/g, '\n').replace(HIDDEN, (each) => {
  const code = each.codePointAt(0), digits = code.toString(16);
  if (code < 256) return '\\x' + digits.padStart(2, '0');
  return code < 65536 ? '\\u' + digits.padStart(4, '0') : '\\U' + digits.padStart(8, '0');
});

let state = null; // who rates, and how far
let item = null; // what is shown
let seen = null; // when the rating was saved that this tab has seen
let elapsed = 0; // seconds looked at the item before `since`
let since = null; // when it was last brought to sight
let isSaving = false;
let digit = { value: '', when: 0, slider: null };

async function ask(path, posted) {
  const options = posted === undefined ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(posted) };
  let response;
  try {
    response = await fetch(path, { ...options, credentials: 'same-origin' });
  } catch {
    throw Object.assign(new Error('Not saved: pkg rate does not answer any more. What you have typed is kept in this browser; start the command again and open its new address.'), { answer: {} });
  }
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { answer, status: response.status });
  return answer;
}

const say = (text) => { find('notice').textContent = spell(text); };
const complain = (text) => { find('fault').textContent = spell(text); };
const guard = (work) => async (...given) => {
  try {
    complain('');
    await work(...given);
  } catch (fault) {
    complain(fault.message);
  }
};

// What is typed and not saved, kept in this browser until it is saved.

const draftName = () => `pkg-rate/${state.digest}/${state.rater}/${item.key}`;
function readDraft() {
  try { return JSON.parse(localStorage.getItem(draftName())); } catch { return null; }
}
function keepDraft() {
  if (!item || !item.isTouched) return;
  try { localStorage.setItem(draftName(), JSON.stringify({ ...readForm(), seen, elapsed: lookedAt() })); } catch { /* full, or forbidden */ }
}
function dropDraft() {
  try { localStorage.removeItem(draftName()); } catch { /* forbidden */ }
}
const lookedAt = () => elapsed + (since === null ? 0 : (performance.now() - since) / 1000);
function touch() {
  item.isTouched = true;
  find('state').textContent = 'Not saved yet.';
  keepDraft();
}

// The form: what it shows, and what it holds.

function makeSlider(name, title) {
  const input = make('input', { type: 'range', id: `slider-${name}`, min: 0, max: 10, step: 1, value: 5 });
  const output = make('output', { textContent: '–' });
  output.setAttribute('for', input.id);
  input.dataset.name = name;
  input.setAttribute('aria-valuetext', 'not set');
  for (const kind of ['input', 'pointerup']) { // a click in the middle moves nothing, and means 5
    input.addEventListener(kind, () => { setSlider(input, Number(input.value)); touch(); });
  }
  return make('div', { className: 'slider' }, make('label', { htmlFor: input.id, textContent: `${title}, 0 to 10` }), input, output);
}
function setSlider(input, value) {
  input.value = value;
  input.dataset.set = 'yes';
  input.setAttribute('aria-valuetext', String(value));
  input.parentElement.querySelector('output').textContent = value;
}
function makeChoices() {
  const choices = Object.entries(CHOICES).map(([verdict, [number, , title]]) => {
    const input = make('input', { type: 'radio', name: 'verdict', value: verdict, id: `verdict-${verdict}` });
    input.addEventListener('change', touch);
    return make('label', { className: 'choice' }, input, ` ${number}  ${title}`);
  });
  return make('fieldset', {}, make('legend', { textContent: 'Which answer is better?' }), ...choices);
}
function makeText(name, title, rows) {
  const area = make('textarea', { id: `text-${name}`, rows });
  area.addEventListener('input', touch);
  return [make('label', { htmlFor: area.id, textContent: title }), area];
}
function makeFields(kind) {
  if (kind === 'pairwise') return [makeChoices()];
  if (kind === 'create') return [...makeText('question', 'Question about this code', 4), ...makeText('answer', 'Answer', 8)];
  return Object.entries(SLIDERS[kind]).map(([name, title]) => makeSlider(name, title));
}
const listSliders = () => [...document.querySelectorAll('#fields input[type=range]')];
const asksForCode = () => ['pair', 'create'].includes(item.kind);
const isBad = () => find('bad').getAttribute('aria-pressed') === 'true';
const setBad = (bad) => find('bad').setAttribute('aria-pressed', String(bad));

function readForm() {
  const held = { comment: find('comment').value, bad_code: isBad() };
  if (item.kind === 'pairwise') held.verdict = document.querySelector('[name=verdict]:checked')?.value ?? null;
  else if (item.kind === 'create') for (const name of ['question', 'answer']) held[name] = find(`text-${name}`).value;
  else held.ratings = Object.fromEntries(listSliders().filter((each) => each.dataset.set).map((each) => [each.dataset.name, Number(each.value)]));
  return held;
}
function fillForm(held) {
  find('comment').value = held.comment ?? '';
  setBad(held.bad_code === true);
  if (item.kind === 'pairwise' && held.verdict) find(`verdict-${held.verdict}`).checked = true;
  if (item.kind === 'create') for (const name of ['question', 'answer']) find(`text-${name}`).value = held[name] ?? '';
  for (const slider of listSliders()) if (held.ratings?.[slider.dataset.name] !== undefined) setSlider(slider, held.ratings[slider.dataset.name]);
}

// The item: its texts, and going from one to another.

function showText(title, text, className = '') {
  const pre = make('pre', { className, tabIndex: 0 });
  const more = make('button', { type: 'button' });
  const section = make('section', {}, make('h2', { textContent: title }), pre, more);
  let shown = 0;
  const showMore = () => {
    const piece = cutPiece(text, shown);
    shown += piece.length;
    pre.append(make('span', { textContent: spell(piece) }));
    more.textContent = `Show more: ${shown.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters are shown`;
    more.hidden = shown >= text.length;
  };
  pre.setAttribute('aria-label', title);
  more.addEventListener('click', showMore);
  showMore();
  return section;
}
function cutPiece(text, from) {
  const piece = text.slice(from, from + LONGEST_SHOWN);
  const end = from + piece.length < text.length ? piece.lastIndexOf('\n') + 1 : 0;
  return end ? piece.slice(0, end) : piece;
}
function* showTexts() {
  if (item.place) yield make('p', { className: 'dim', textContent: spell(item.place) });
  if (item.question) yield showText('Question', item.question, 'words');
  if (item.code) yield showText('Code', item.code);
  if (item.kind === 'create') yield showText('Code', item.texts[0]);
  else if (item.kind === 'pairwise') yield make('div', { className: 'sides' }, showText('Answer A', item.texts[0], 'words'), showText('Answer B', item.texts[1], 'words'));
  else yield showText('Answer', item.texts[0], 'words');
  if (item.reference) yield showText('Reference', item.reference, 'words');
}
async function openItem(number) {
  keepDraft();
  const opened = await ask(`/api/items/${number}`);
  item = opened;
  seen = item.rated?.when ?? null;
  [elapsed, since] = [0, document.hidden ? null : performance.now()];
  for (const id of ['enter', 'about', 'end']) find(id).hidden = true;
  find('item').hidden = find('steps').hidden = false;
  find('item').className = { create: 'writes', pairwise: 'compares' }[item.kind] ?? '';
  document.title = TITLES[item.kind];
  find('title').textContent = TITLES[item.kind];
  find('content').replaceChildren(...showTexts());
  find('fields').replaceChildren(...makeFields(item.kind));
  find('bad').hidden = !asksForCode();
  fillForm(item.rated ?? {});
  item.isTouched = false;
  find('state').textContent = item.rated ? 'Saved. What you change and save replaces it.' : '';
  const draft = readDraft();
  if (draft) {
    fillForm(draft);
    item.isTouched = true;
    [seen, elapsed] = [draft.seen ?? null, Number(draft.elapsed) || 0];
    find('state').textContent = 'Not saved yet; kept from before.';
  }
  showProgress();
  scrollTo(0, 0);
  (document.querySelector('#fields input, #fields textarea') ?? find('save')).focus({ preventScroll: true });
}
function showProgress() {
  const count = state.done.filter(Boolean).length;
  find('progress').max = Math.max(state.done.length, 1);
  find('progress').value = count;
  find('progress-text').textContent = `${count} of ${state.done.length} done`;
  find('position').textContent = item ? `item ${item.number + 1}` : '';
  find('previous').disabled = !item || item.number === 0;
  find('next').disabled = !item || item.number === state.done.length - 1;
}
const step = guard(async (by) => {
  const number = (item?.number ?? -1) + by;
  if (number >= 0 && number < state.done.length) await openItem(number);
});
async function openNextUnrated() {
  const from = item ? item.number : -1;
  const order = state.done.map((_, each) => (from + 1 + each) % state.done.length);
  const number = order.find((each) => !state.done[each]);
  if (number === undefined) showEnd('Every item that is yours is rated.');
  else await openItem(number);
}
function showEnd(text) {
  find('item').hidden = true;
  find('end').hidden = false;
  find('end-text').textContent = text;
  showProgress();
  find('end').querySelector('h2').focus();
}

// Saving.

const save = guard(async () => {
  if (isSaving || !item || find('item').hidden) return;
  isSaving = find('save').disabled = true;
  try {
    const answer = await ask(`/api/items/${item.number}`, { ...readForm(), seen, seconds: lookedAt() });
    dropDraft();
    item.isTouched = false;
    state.done = answer.done;
    say(`Saved item ${item.number + 1}.`);
    if (answer.over) showEnd('All raters are done: pkg rate has ended, and its terminal shows the summary. You may close this page.');
    else await openNextUnrated();
  } catch (fault) {
    if (fault.answer?.rated) {
      seen = fault.answer.rated.when;
      keepDraft();
      say(`Saved in the other tab: ${describe(fault.answer.rated)}`);
    }
    throw fault;
  } finally {
    isSaving = find('save').disabled = false;
  }
});
function describe(row) {
  const parts = Object.entries(row.ratings ?? {}).map(([name, value]) => `${name} ${value}`);
  if (row.verdict) parts.push(CHOICES[row.verdict]?.[2] ?? row.verdict);
  if (row.question) parts.push(row.question, row.answer);
  if (row.bad_code) parts.push('bad code');
  return [...parts, row.comment ?? ''].filter(Boolean).join(', ').slice(0, 500);
}

// Keys.

function press(event) {
  if (event.altKey || event.isComposing || find('help').open) return;
  const isWriting = event.target.matches('textarea, select, input:not([type])');
  if (event.key === 'Enter' && !find('item').hidden && (event.ctrlKey || event.metaKey || !(isWriting || event.target.matches('button')))) {
    event.preventDefault();
    save();
  } else if (!isWriting && !event.ctrlKey && !event.metaKey && pressLetter(event.key)) {
    event.preventDefault();
  }
}
function pressLetter(key) {
  if (key === '?') find('help').showModal();
  else if (find('steps').hidden) return false;
  else if (key === 'n') step(1);
  else if (key === 'p') step(-1);
  else if (find('item').hidden) return false;
  else if (key === 'x' && asksForCode()) toggleBad();
  else if (item.kind === 'pairwise') return chooseByKey(key);
  else if (/^[0-9]$/.test(key)) return setByDigit(key);
  else return false;
  return true;
}
function chooseByKey(key) {
  const verdict = Object.keys(CHOICES).find((each) => CHOICES[each].slice(0, 2).includes(key));
  if (verdict === undefined) return false;
  find(`verdict-${verdict}`).checked = true;
  find(`verdict-${verdict}`).focus();
  touch();
  return true;
}
function setByDigit(key) {
  const sliders = listSliders();
  const slider = sliders.find((each) => each === document.activeElement) ?? sliders.find((each) => !each.dataset.set) ?? sliders[0];
  if (slider === undefined) return false;
  const isTen = key === '0' && digit.value === '1' && digit.slider === slider && performance.now() - digit.when < NEXT_DIGIT;
  digit = { value: key, when: performance.now(), slider };
  slider.focus();
  setSlider(slider, isTen ? 10 : Number(key));
  touch();
  return true;
}
function toggleBad() {
  setBad(!isBad());
  touch();
}

// Coming in.

function fillChoices() {
  for (const [name, choices] of Object.entries(state.choices)) {
    const options = ['', ...choices].map((each) => make('option', { value: each, textContent: each || 'no answer' }));
    find(name).replaceChildren(...options);
  }
}
const begin = guard(async () => {
  if (state.changed) say('The file has changed since pkg rate has read it: you rate what it held then. Start the command again for what it holds now.');
  else if (state.skipped) say(`${state.skipped} rows of the file cannot be rated; the terminal names them.`);
  if (state.done.length === 0) complain('There is nothing to rate for you.');
  else await openNextUnrated();
});
const enter = guard(async (event) => {
  event.preventDefault();
  state = await ask('/api/rater', { name: find('name').value });
  find('enter').hidden = true;
  await welcome();
});
async function welcome() {
  if (state.asks_participant) {
    fillChoices();
    find('about').hidden = false;
    find('degree').focus();
  } else await begin();
}
const leaveAbout = guard(async (event, isKept) => {
  event.preventDefault();
  const names = [...Object.keys(state.choices), 'field'];
  const told = Object.fromEntries(names.map((name) => [name, find(name).value]));
  await ask('/api/participant', isKept ? told : { skipped: true });
  find('about').hidden = true;
  await begin();
});
const start = guard(async () => {
  history.replaceState(null, '', '/'); // the token in the address is used
  state = await ask('/api/state');
  if (state.rater === null) {
    find('enter').hidden = false;
    find('name').focus();
  } else await welcome();
});

find('enter').addEventListener('submit', enter);
find('about').addEventListener('submit', (event) => leaveAbout(event, true));
find('skip').addEventListener('click', (event) => leaveAbout(event, false));
find('form').addEventListener('submit', (event) => { event.preventDefault(); save(); });
find('comment').addEventListener('input', touch);
find('bad').addEventListener('click', toggleBad);
find('next').addEventListener('click', () => step(1));
find('previous').addEventListener('click', () => step(-1));
find('ask-help').addEventListener('click', () => find('help').showModal());
find('close-help').addEventListener('click', () => find('help').close());
document.addEventListener('keydown', press);
document.addEventListener('visibilitychange', () => {
  [elapsed, since] = [lookedAt(), document.hidden ? null : performance.now()];
  keepDraft();
});
addEventListener('pagehide', keepDraft);
start();
