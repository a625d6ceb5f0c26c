// One symbol: dependents on the left, source in the middle, dependencies on the right; or the graph around it.

import { ask, prefetch } from './answers.js';
import { indentFirst, showCode } from './code.js';
import { GraphView } from './around.js';
import { readLibrary } from './drawing.js';
import { showImpact } from './impact.js';
import { NEEDED_BY, NEEDS, joinLinks } from './links.js';
import { addressOf, badge, canOpen, editorLink, listPlace, readAddress, shortName, showArguments, stopArguments, trailFrom, writeAddress } from './places.js';
import { count, make, spell } from './words.js';

const TITLES = { callers: 'Callers', importers: 'Importers', subclasses: 'Subclasses', 'overridden by': 'Overridden by', readers: 'Readers', callees: 'Callees', 'module callees': 'Called on import', bases: 'Bases', overrides: 'Overrides', imports: 'Imports' };
const TABS = { code: 'Code', graph: 'Graph', impact: 'Impact' };

export async function showSymbol(main, given, trail, signal) {
  const name = given.get('name'), source = given.get('source'), tab = given.get('tab') in TABS ? given.get('tab') : 'code';
  if (tab === 'code') prefetch('deps', stopArguments(name, source));
  const lines = await ask('show', showArguments(name, source), signal);
  const target = lines.find((each) => each.type === 'target'), definitions = lines.filter((each) => each.type === 'definition');
  document.title = spell(`${target.qualname} · pkg`);
  main.replaceChildren(showTrail(trail, source), showHead(target, definitions), showTabs(name, source, tab, trail));
  const body = make('div', { className: `body ${tab}` });
  main.append(body);
  if (tab === 'graph') {
    await readLibrary();
    return new GraphView(body, target, lines).start();
  }
  if (tab === 'impact') return showImpact(body, name, source, target, signal);
  const stops = await ask('deps', stopArguments(name, source), signal).catch((fault) => {
    if (fault.name === 'AbortError') throw fault;
    return []; // a constant has none
  });
  body.append(...showColumns(lines, target, definitions, stops.filter((each) => each.relation === 'unresolved calls')));
  return null;
}

function showTrail(trail, source) {
  if (!trail.length) return make('nav', { hidden: true });
  const links = trail.map((name, number) => make('li', {}, make('a', { href: writeAddress('symbol', { name, source }, trail.slice(0, number)) }, shortName(name))));
  return make('nav', { className: 'trail', 'aria-label': 'Trail' }, make('ol', {}, links));
}

function showHead(target, definitions) {
  const [first] = definitions;
  const said = first?.docstring && ['template', 'fim'].includes(first.docstring_source) ? make('p', { className: 'said' }, `${first.docstring} (${first.docstring_source})`) : null;
  return make('header', { className: 'head' },
    make('h1', { tabIndex: -1 }, badge(target.label), ' ', target.qualname),
    make('p', { className: 'under' }, editorLink(target, target.line), ` · ${first?.kind ?? target.label.toLowerCase()} in ${target.source}`,
      first?.class_header ? make('code', {}, ` · ${first.class_header}`) : null, target.is_stale ? make('span', { className: 'stale' }, 'changed since the build') : null), said);
}

function showTabs(name, source, tab, trail) {
  const link = ([key, title]) => make('a', { href: writeAddress('symbol', { name, source, tab: key }, trail), 'aria-current': key === tab ? 'page' : null, 'data-key': key[0] }, title);
  return make('nav', { className: 'tabs', 'aria-label': 'Views of this symbol' }, Object.entries(TABS).map(link));
}

function showColumns(lines, target, definitions, stops) {
  const links = joinLinks(lines), coverage = lines.find((each) => each.type === 'coverage') ?? {}, trail = trailFrom();
  const side = (relations, title, ...more) => {
    const lists = relations.flatMap((relation) => showLinks(relation, links.filter((each) => each.relation === relation), coverage.left_out?.[relation], trail, relations === NEEDS ? target.path : null));
    return make('section', { className: 'side', 'aria-label': title }, lists.length || more.some(Boolean) ? [lists, more] : make('p', { className: 'none' }, title === 'Needs' ? 'No known dependencies.' : 'No known dependents.'));
  };
  const entries = lines.filter((each) => each.type === 'entry');
  const entered = entries.length ? [make('h2', {}, 'Entered by'), make('ul', { className: 'entries' }, entries.map((each) => make('li', { className: 'entry' }, badge('Chunk'), make('div', {}, each.by, make('div', { className: 'under' }, editorLink({ source: target.source, path: each.path }, each.line))))))] : null;
  const source = make('section', { className: 'source', 'aria-label': 'Source' }, definitions.map((each) => showDefinition(each, links, stops, trail)), showCoverage(coverage));
  return [side(NEEDED_BY, 'Needed by', entered), source, side(NEEDS, 'Needs', showStops(stops, target))];
}

function showLinks(relation, links, leftOut, trail, path) {
  if (!links.length) return [];
  const sure = links.filter((each) => each.confidence !== 'possible'), unsure = links.filter((each) => each.confidence === 'possible');
  const order = (each) => each.at === path ? each.lines[0] ?? 0 : Infinity; // in the order of the source code
  const list = (some) => make('ul', { className: 'entries' }, (path ? [...some].sort((a, b) => Math.sign(order(a) - order(b)) || 0) : some).map((each) => listPlace(each, { lines: each.lines, at: each.at, confidence: each.confidence, note: each.rules.filter(Boolean).join('; '), trail })));
  const more = leftOut ? make('p', { className: 'none' }, `and ${leftOut.toLocaleString('en')} more`) : null;
  const folded = unsure.length ? make('details', {}, make('summary', {}, `${unsure.length.toLocaleString('en')} uncertain`), list(unsure)) : null;
  return [make('h2', {}, TITLES[relation], ' ', make('span', { className: 'count' }, String(sure.length))), sure.length ? list(sure) : null, folded, more].filter(Boolean);
}

function showStops(stops, target) {
  if (!stops.length) return null;
  const entry = (each) => make('li', { className: 'entry' }, make('span', { className: 'badge stop-badge', 'aria-hidden': 'true' }, '×'), make('div', {}, make('span', { className: 'name' }, each.qualname), make('div', { className: 'under' }, editorLink(target, each.line), ' ', each.rule)));
  return make('details', { open: stops.length <= 6 }, make('summary', {}, `Where the graph stops (${stops.length})`), make('ul', { className: 'entries' }, stops.map(entry)));
}

function showDefinition(definition, links, stops, trail) {
  const marks = new Map(), lastNames = (name) => name.split('.').slice(-2).filter((each) => !each.startsWith('__')).reverse();
  const mark = (line, made) => marks.set(line, [...(marks.get(line) ?? []), made]);
  for (const each of links) {
    if (!NEEDS.includes(each.relation) || each.at !== definition.path) continue;
    const href = canOpen(each) ? addressOf(each, trail) : null, title = `${TITLES[each.relation]}: ${each.qualname}`;
    for (const line of each.lines) mark(line, { names: lastNames(each.qualname), href, title });
  }
  for (const each of stops) for (const line of each.lines) mark(line, { names: lastNames(each.qualname), isStop: true, title: `not bound: ${each.rule}` });
  return make('article', {}, showCode(indentFirst(definition), definition.start_line, { marks, label: `Source of ${definition.qualname}` }));
}

function showCoverage(coverage) {
  if (!coverage.scope) return null;
  const unresolved = coverage.same_name ? `${count(coverage.same_name, 'call')} of ${coverage.names.replace(/^the name /, '')} could not be resolved` : '';
  const words = [coverage.named ? coverage.named.text : unresolved, ...coverage.notes].filter(Boolean);
  return words.length ? make('p', { className: 'none' }, words.map((each) => `${each}. `)) : null;
}
