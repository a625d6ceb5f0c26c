// Places of code: their names in addresses, entries in lists, and links to an editor.

import { isAnswered } from './answers.js';
import { make, spell } from './words.js';

const MOST_TRAIL = 12;
const KINDS = { Function: 'ƒ', Class: 'C', Constant: 'K', File: 'F', Library: 'L', Module: 'M', Chunk: '¶', Block: 'B', Folder: 'D', Row: 'R', Cycle: '↻' };

// The name by which the graph finds a place; a file is named by its path only.
export const nameOf = ({ label, path, qualname }) => !path || ['File', 'Folder', 'Library', 'Module', 'Row'].includes(label) || qualname === path ? path || qualname : `${path}::${qualname}`;
export const shortName = (name) => name.includes('::') ? name.split('::').at(-1) : name.split('/').slice(-2).join('/');

export const showArguments = (name, source) => ({ name, source, limit: 100, budget: 0 });
export const stopArguments = (name, source) => ({ name, source, direction: 'out', relations: ['unresolved'], limit: 200, budget: 0 });
export const impactArguments = (name, source) => ({ names: [name], source, limit: 200, budget: 0 });
export const mapArguments = (source) => ({ source, files: true, budget: 0 });

export const canOpen = (place) => Boolean(place.path) && place.label !== 'Call' && isAnswered('show', showArguments(nameOf(place), place.source));

// Addresses: a view, its arguments, and the trail of visited symbols.
export function readAddress() {
  const [view, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const given = new URLSearchParams(query);
  return { view: view || 'map', given, trail: given.getAll('trail') };
}
export function writeAddress(view, facts, trail = []) {
  const given = new URLSearchParams(Object.entries(facts).flatMap(([name, value]) => [value].flat().map((each) => [name, each])).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  for (const each of trail.slice(-MOST_TRAIL)) given.append('trail', each);
  return `#/${view}?${given}`;
}
export const addressOf = (place, trail = [], tab = null) => writeAddress('symbol', { name: nameOf(place), source: place.source, tab }, trail);

// The trail after a step from the current symbol: it is appended, without adjacent duplicates.
export function trailFrom() {
  const { view, given, trail } = readAddress();
  const name = given.get('name');
  return view === 'symbol' && name && trail.at(-1) !== name ? [...trail, name] : trail;
}

let roots = new Map(); // root folders of the sources, if known
export const setRoots = (sources) => { roots = new Map(sources.filter((each) => each.root).map((each) => [each.name, each.root])); };

// isShort: show the last folder and the name; the whole path is the tooltip.
export function editorLink({ source, path }, line, isShort = false) {
  const root = roots.get(source), at = line ? `:${line}` : '';
  const text = breakable((isShort ? path.split('/').slice(-2).join('/') : path) + at);
  if (!root) return make('span', { className: 'place', title: path }, text);
  const whole = root.endsWith('.py') ? root : `${root}/${path}`;
  const address = 'vscode://file/' + whole.replaceAll('\\', '/').replace(/^\/+/, '').split('/').map(encodeURIComponent).join('/') + at;
  return make('a', { className: 'place', href: address, title: `Open ${path}${at} in the editor` }, text);
}

export const badge = (label, extra = '') => make('span', { className: `badge ${KINDS[label] ? label : 'File'} ${extra}`, title: label.toLowerCase(), 'aria-hidden': 'true' }, KINDS[label] ?? '·');

// Allow line breaks after the dots and underscores of a long name.
export const breakable = (name) => spell(name).split(/(?<=[._/])/).flatMap((part, number) => number ? [make('wbr'), part] : [part]);

// An entry of a list: the name links to the symbol, the lines to the editor.
export function listPlace(place, { lines = [], at = place.path, note = '', confidence = 'certain', trail = [] } = {}) {
  const name = place.qualname || place.path;
  const title = canOpen(place) ? make('a', { className: 'name', href: addressOf(place, trail) }, breakable(name)) : make('span', { className: 'name' }, breakable(name));
  const where = place.path ? [editorLink(place, place.line, true), place.is_stale ? make('span', { className: 'stale' }, 'stale') : null] : [make('span', { className: 'place' }, 'library')];
  const sure = confidence === 'certain' ? null : make('span', { className: `sure ${confidence}` }, confidence);
  const sites = lines.length ? make('span', { className: 'sites' }, 'at ', lines.slice(0, 6).flatMap((line, number) => [number ? ', ' : '', editorAt(place.source, at, line)]), lines.length > 6 ? ` and ${lines.length - 6} more` : '') : null;
  return make('li', { className: 'entry', title: note }, badge(place.label), make('div', {}, make('div', {}, title, ' ', sure), make('div', { className: 'under' }, where, ' ', sites)));
}

function editorAt(source, path, line) {
  const link = editorLink({ source, path }, line);
  link.textContent = String(line);
  link.className = 'line';
  link.dataset.line = line;
  return link;
}
