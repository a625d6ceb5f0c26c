// The page: search box, view of the current address, colour scheme, and keys.

import { Unanswered, ask, prefetch, beginView, isAnswered, isServed, onFreshness, start, reportFreshness } from './answers.js';
import { readLibrary } from './drawing.js';
import { showMap } from './map.js';
import { mapArguments, readAddress, setRoots, showArguments, stopArguments, writeAddress } from './places.js';
import { showSearch } from './search.js';
import { showSymbol } from './symbol.js';
import { find, spell } from './words.js';

const PAUSE = 140; // milliseconds after the last key before a search starts
const SCHEMES = { '': 'system', light: 'light', dark: 'dark' };

let sources = [];
let drawing = null; // of the current view
let asked = null; // aborts the requests of an abandoned view
let running = null; // the view that is loading

function showView() {
  const mine = makeView().finally(() => { if (running === mine) running = null; });
  running = mine;
  return mine;
}

async function makeView() {
  asked?.abort();
  asked = new AbortController();
  const { signal } = asked, { view, given, trail } = readAddress(), main = find('main');
  const busy = setTimeout(() => main.setAttribute('aria-busy', 'true'), 150);
  complain('');
  beginView();
  try {
    const show = { symbol: () => showSymbol(main, given, trail, signal), search: () => showSearch(main, given, signal) }[view] ?? (() => showMap(main, given, sources, signal));
    drawing?.end();
    drawing = null;
    const made = await show();
    if (signal.aborted) return made?.end();
    drawing = made;
    reportFreshness();
    if (view !== 'search') focusHead();
    performance.mark(`shown ${view}`);
  } catch (fault) {
    if (signal.aborted) return;
    if (!(fault instanceof Unanswered)) console.error(fault);
    main.replaceChildren();
    complain(fault.message);
    reportFreshness();
  } finally {
    clearTimeout(busy);
    if (!signal.aborted) main.removeAttribute('aria-busy');
  }
}

let isFirst = true;
function focusHead() {
  if (!isFirst) find('main').querySelector('h1')?.focus({ preventScroll: true });
  if (!isFirst) scrollTo(0, 0);
  isFirst = false;
}

function complain(text) {
  find('fault').textContent = spell(text);
}

function sayFreshness(freshness) {
  const said = [];
  if (freshness.is_empty) said.push('The graph is empty. Run pkg build.');
  if (freshness.stale?.length) said.push(`Changed since the build: ${freshness.stale.slice(0, 3).map((each) => each.path || each.root || each.source).join(', ')}${freshness.stale.length > 3 ? ` and ${freshness.stale.length - 3} more` : ''}.`);
  if (freshness.partial) said.push(`${freshness.partial} files parsed only in part.`);
  find('notice').textContent = spell(said.join(' '));
}

let timer = null;
function searchSoon() {
  clearTimeout(timer);
  timer = setTimeout(search, PAUSE);
}
async function search() {
  clearTimeout(timer);
  const text = find('search').value.trim(), { view, given } = readAddress();
  if (!text) return;
  if (view === 'search' && given.get('text') === text && (running || document.querySelector('main .hits'))) {
    await running;
    return;
  }
  const next = writeAddress('search', { text, mode: view === 'search' ? given.get('mode') : null });
  if (view === 'search') history.replaceState(null, '', next); // no history entry per letter
  else history.pushState(null, '', next);
  await showView();
}

// Colour scheme: that of the system until one is chosen.

function readScheme() {
  try { return localStorage.getItem('pkg scheme') ?? ''; } catch { return ''; }
}
function useScheme(scheme) {
  if (scheme) document.documentElement.dataset.theme = scheme;
  else delete document.documentElement.dataset.theme;
  find('scheme').textContent = { '': '◐', light: '☀', dark: '☾' }[scheme];
  find('scheme').setAttribute('aria-label', `Colours: ${SCHEMES[scheme]}. Change`);
  find('scheme').title = `Colours: ${SCHEMES[scheme]}`;
  drawing?.repaint();
  drawing?.mark();
}
function nextScheme() {
  const names = Object.keys(SCHEMES), next = names[(names.indexOf(document.documentElement.dataset.theme ?? '') + 1) % names.length];
  try { localStorage.setItem('pkg scheme', next); } catch { /* forbidden */ }
  useScheme(next);
}

// Keys.

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || find('help').open) return;
  const isWriting = event.target.matches('input, select, textarea');
  if (event.target === find('search') && event.key === 'ArrowDown') step(1, event);
  else if (isWriting) return;
  else if (event.key === '/') { find('search').focus(); find('search').select(); event.preventDefault(); }
  else if (event.key === '?') find('help').showModal();
  else if (event.key === 'b') history.back();
  else if (event.key === 'm' && !find('to-map').hidden) location.hash = '#/map';
  else if (event.key === 't') nextScheme();
  else if (event.key === 'f' && document.querySelector('.find-here')) { document.querySelector('.find-here').focus(); event.preventDefault(); }
  else if (event.key === 'j') step(1, event);
  else if (event.key === 'k') step(-1, event);
  else document.querySelector(`.tabs [data-key="${CSS.escape(event.key)}"]`)?.click();
}
// Move between names, like Tab without other elements.
function step(by, event) {
  const names = [...document.querySelectorAll('main a.name, main a.card')].filter((each) => each.checkVisibility());
  const at = names.indexOf(document.activeElement), next = names[Math.max(0, Math.min(names.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  event.preventDefault();
}

// Prefetch the answers of the view in the address.
function lookAhead() {
  const { view, given } = readAddress();
  if (view !== 'symbol') return view === 'map' ? readLibrary() : null;
  prefetch('show', showArguments(given.get('name'), given.get('source')));
  if (given.get('tab') === 'graph' || given.get('tab') === 'impact') return readLibrary();
  return prefetch('deps', stopArguments(given.get('name'), given.get('source')));
}

async function begin() {
  useScheme(readScheme());
  find('find').addEventListener('submit', async (event) => { event.preventDefault(); await search(); document.querySelector('main a.name')?.focus(); });
  find('search').addEventListener('input', searchSoon);
  find('scheme').addEventListener('click', nextScheme);
  find('ask-help').addEventListener('click', () => find('help').showModal());
  find('close-help').addEventListener('click', () => find('help').close());
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => useScheme(document.documentElement.dataset.theme ?? ''));
  document.addEventListener('keydown', press);
  onFreshness(sayFreshness);
  lookAhead();
  find('find').hidden = !isServed;
  await meet();
  find('to-map').hidden = !sources.every((each) => isAnswered('map', mapArguments(each.name)));
  if (!location.hash && start) history.replaceState(null, '', start);
  if (readAddress().view === 'search') find('search').value = readAddress().given.get('text') ?? '';
  addEventListener('hashchange', showView);
  await showView();
}

// Load the status of the service; a missing graph is not an error.
async function meet() {
  if (location.search) history.replaceState(null, '', location.pathname + location.hash); // the token has been used
  try {
    const [status] = await ask('status', {});
    sources = status.sources;
    setRoots(sources);
    if (status.reason) complain(status.reason);
  } catch (fault) {
    complain(fault.message);
  }
}

begin();
