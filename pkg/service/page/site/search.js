// Search as you type: results with their code; pruned branches are struck through.

import { ask } from './answers.js';
import { indentFirst, showCode } from './code.js';
import { addressOf, badge, editorLink, writeAddress } from './places.js';
import { count, make, spell } from './words.js';

const SHOWN = 8;
const MOST_WORDS = 6; // listed words of the question in a hit
const MODES = { both: 'Code', declaration: 'Classes and constants', file: 'Files', text: 'Documents' };

const PLAIN = new Set('a an and are as at be by can do does for from how i if in is it its of on or that the this to was what when where which who why with'.split(' '));
const ENDINGS = /(?:ations?|ings?|ers?|ed|es|s|ly)$/;
const LEAST_STEM = 4; // letters

function cutEnding(word) {
  const stem = word.replace(ENDINGS, '');
  return stem.length >= LEAST_STEM ? stem : word.length > LEAST_STEM ? word.replace(/s$/, '') : word;
}

// A pattern of the words of a question, in any form, as they are written in names and texts; null without one.
export function findWords(text) {
  const words = [...text.toLowerCase().matchAll(/[\p{L}\d]+/gu)].map(([word]) => word).filter((word) => !PLAIN.has(word));
  const stems = [...new Set(words.map(cutEnding))];
  if (!stems.length) return null;
  const upper = (stem) => stem[0].toUpperCase() + stem.slice(1);
  const any = (all) => `(?:${all.join('|')})`; // letters and digits, so nothing to escape
  return new RegExp(`(?<!\\p{L})${any(stems)}\\p{Ll}*|${any(stems.map(upper))}\\p{Ll}*|(?<!\\p{L})${any(stems.map((stem) => stem.toUpperCase()))}\\p{Lu}*`, 'gu');
}

// A text with the words of the question marked.
export function markWords(text, pattern) {
  if (!pattern) return [text];
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    parts.push(text.slice(at, found.index), make('mark', {}, found[0]));
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)].filter((each) => each !== '');
}

// Why a hit was found: its score, how close its meaning is, and the words of the question in its name and code.
function showReasons(hit, pattern) {
  const words = (text) => new Set(pattern ? [...(text ?? '').matchAll(pattern)].map(([word]) => word.toLowerCase()) : []);
  const named = words(`${hit.path} ${hit.qualname}`), written = words([hit.content, hit.summary, hit.docstring, hit.signature].join(' '));
  for (const word of named) written.delete(word);
  const list = (some) => [...some].slice(0, MOST_WORDS).join(', ') + (some.size > MOST_WORDS ? ', …' : '');
  return make('p', { className: 'under why' }, [`score ${hit.score.toFixed(2)}`, hit.cosine === null || hit.cosine === undefined ? '' : `meaning ${hit.cosine.toFixed(2)}`,
    named.size ? `in the name: ${list(named)}` : '', written.size ? `in the text: ${list(written)}` : ''].filter(Boolean).join(' · '));
}

const findArguments = (text, mode, source) => ({ text, mode, top_k: SHOWN, source, budget: 0 });

export async function showSearch(main, given, signal) {
  const text = given.get('text') ?? '', mode = given.get('mode') in MODES ? given.get('mode') : 'both', source = given.get('source');
  document.title = spell(`${text} · pkg`);
  const tabs = make('nav', { className: 'tabs', 'aria-label': 'Search in' }, Object.entries(MODES).map(([key, title]) => make('a', { href: writeAddress('search', { text, mode: key, source }), 'aria-current': key === mode ? 'page' : null }, title)));
  const lines = await ask('query', findArguments(text, mode, source), signal);
  const hits = lines.filter((each) => each.type === 'hit'), coverage = lines.at(-1);
  const head = make('header', { className: 'head' }, make('h1', { tabIndex: -1 }, count(hits.length, 'answer')), make('p', { className: 'under' }, `of ${coverage.searched?.toLocaleString('en') ?? 0} searched`, (coverage.notes ?? []).map((each) => ` · ${each}`)));
  const warn = hits.length && coverage.fits === false ? make('p', { className: 'warn' }, 'Nothing fits well; these are the nearest, and unlikely to help.') : null;
  main.replaceChildren(head, tabs, ...[warn].filter(Boolean), make('div', { className: 'hits' }, hits.map((hit) => showHit(hit, findWords(text)))));
}

function showHit(hit, pattern) {
  const place = { label: hit.label === 'Block' ? 'Function' : hit.label, source: hit.source, path: hit.path, line: hit.start_line, qualname: hit.qualname };
  const kind = hit.label === 'Block' ? `${hit.kind} of` : '';
  const href = ['Chunk', 'Module'].includes(hit.label) ? addressOf({ ...place, label: 'File' }) : addressOf(place);
  const cuts = (hit.pruned ?? []).map((each) => [each.start_line, each.end_line]);
  const struck = cuts.length ? make('span', { className: 'sure' }, `${count(cuts.length, 'branch', 'branches')} cut`) : null;
  const content = indentFirst(hit);
  return make('article', { className: 'hit' },
    make('h2', {}, badge(place.label), ' ', kind ? make('span', { className: 'under' }, `${kind} `) : null, make('a', { className: 'name', href }, markWords(spell(hit.qualname), pattern)), ' ', struck),
    make('p', { className: 'under' }, editorLink(place, hit.start_line), hit.is_stale ? make('span', { className: 'stale' }, 'stale') : null,
      hit.class_header ? make('code', {}, ` ${hit.class_header}`) : null, hit.summary ? [' · ', markWords(spell(hit.summary), pattern)] : null),
    showReasons(hit, pattern),
    hit.content && hit.label !== 'Chunk' ? showCode(content, hit.start_line, { cuts, mark: (text) => markWords(text, pattern), label: `Code of ${hit.qualname}` }) : null,
    hit.label === 'Chunk' ? make('pre', { className: 'chunk', tabIndex: 0 }, markWords(spell(hit.content), pattern)) : null,
    hit.functions?.length ? make('ul', { className: 'entries' }, hit.functions.map((each) => make('li', { className: 'entry' }, badge('Function'), make('div', {}, make('a', { className: 'name', href: addressOf({ label: 'Function', source: hit.source, path: hit.path, qualname: each.qualname }) }, each.qualname))))) : null);
}
