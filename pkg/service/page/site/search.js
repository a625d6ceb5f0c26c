// Search as you type: results with their code; pruned branches are struck through.

import { ask } from './answers.js';
import { indentFirst, showCode } from './code.js';
import { addressOf, badge, editorLink, writeAddress } from './places.js';
import { count, make, spell } from './words.js';

const SHOWN = 8;
const MODES = { both: 'Code', declaration: 'Classes and constants', file: 'Files', text: 'Documents' };

const findArguments = (text, mode, source) => ({ text, mode, top_k: SHOWN, source, budget: 0 });

export async function showSearch(main, given, signal) {
  const text = given.get('text') ?? '', mode = given.get('mode') in MODES ? given.get('mode') : 'both', source = given.get('source');
  document.title = spell(`${text} · pkg`);
  const tabs = make('nav', { className: 'tabs', 'aria-label': 'Search in' }, Object.entries(MODES).map(([key, title]) => make('a', { href: writeAddress('search', { text, mode: key, source }), 'aria-current': key === mode ? 'page' : null }, title)));
  const lines = await ask('query', findArguments(text, mode, source), signal);
  const hits = lines.filter((each) => each.type === 'hit'), coverage = lines.at(-1);
  const head = make('header', { className: 'head' }, make('h1', { tabIndex: -1 }, count(hits.length, 'answer')), make('p', { className: 'under' }, `of ${coverage.searched?.toLocaleString('en') ?? 0} searched`, (coverage.notes ?? []).map((each) => ` · ${each}`)));
  const warn = hits.length && coverage.fits === false ? make('p', { className: 'warn' }, 'Nothing fits well; these are the nearest, and unlikely to help.') : null;
  main.replaceChildren(head, tabs, ...[warn].filter(Boolean), make('div', { className: 'hits' }, hits.map(showHit)));
}

function showHit(hit) {
  const place = { label: hit.label === 'Block' ? 'Function' : hit.label, source: hit.source, path: hit.path, line: hit.start_line, qualname: hit.qualname };
  const kind = hit.label === 'Block' ? `${hit.kind} of` : '';
  const href = ['Chunk', 'Module'].includes(hit.label) ? addressOf({ ...place, label: 'File' }) : addressOf(place);
  const cuts = (hit.pruned ?? []).map((each) => [each.start_line, each.end_line]);
  const struck = cuts.length ? make('span', { className: 'sure' }, `${count(cuts.length, 'branch', 'branches')} cut`) : null;
  const content = indentFirst(hit);
  return make('article', { className: 'hit' },
    make('h2', {}, badge(place.label), ' ', kind ? make('span', { className: 'under' }, `${kind} `) : null, make('a', { className: 'name', href }, hit.qualname), ' ', struck),
    make('p', { className: 'under' }, editorLink(place, hit.start_line), hit.is_stale ? make('span', { className: 'stale' }, 'stale') : null,
      hit.class_header ? make('code', {}, ` ${hit.class_header}`) : null, hit.summary ? ` · ${hit.summary}` : null),
    hit.content && hit.label !== 'Chunk' ? showCode(content, hit.start_line, { cuts, label: `Code of ${hit.qualname}` }) : null,
    hit.label === 'Chunk' ? make('pre', { className: 'chunk', tabIndex: 0 }, hit.content) : null,
    hit.functions?.length ? make('ul', { className: 'entries' }, hit.functions.map((each) => make('li', { className: 'entry' }, badge('Function'), make('div', {}, make('a', { className: 'name', href: addressOf({ label: 'Function', source: hit.source, path: hit.path, qualname: each.qualname }) }, each.qualname))))) : null);
}
