// The impact of a symbol: code that may break when it changes, by distance and by file.

import { ask } from './answers.js';
import { Drawing, readLibrary, sizeNode } from './drawing.js';
import { Columns } from './layout.js';
import { addressOf, canOpen, impactArguments, listPlace, trailFrom } from './places.js';
import { count, make } from './words.js';

const MOST_DRAWN = 60;
const VERBS = { CALLS: 'calls', RESOLVES_TO: 'imports', INHERITS: 'inherits from', OVERRIDES: 'overrides', READS: 'reads', HOLDS: 'holds', ENTERS: 'makes the object of', RUNS: 'runs with' };

export async function showImpact(body, name, source, target, signal) {
  const [lines] = await Promise.all([ask('impact', impactArguments(name, source), signal), readLibrary()]);
  const affected = lines.filter((each) => each.type === 'affected'), coverage = lines.find((each) => each.type === 'coverage');
  const sure = affected.filter((each) => each.confidence !== 'possible');
  body.append(showCounts(coverage));
  if (!affected.length) {
    body.append(make('p', { className: 'none' }, 'The graph knows no code that breaks when it changes. Code outside of the sources and unresolved calls may break nevertheless.'));
    return null;
  }
  const drawing = drawImpact(body, target, sure);
  const trail = trailFrom();
  body.append(make('div', { className: 'lists' },
    showFiles('May break', sure.filter((each) => !each.is_test), trail), showFiles('Tests that reach it', sure.filter((each) => each.is_test), trail),
    showFiles('Uncertain', affected.filter((each) => each.confidence === 'possible'), trail, true)));
  return drawing;
}

function showCounts(coverage) {
  const fact = (number, text) => make('div', { className: 'fact' }, make('strong', {}, number.toLocaleString('en')), ` ${text}`);
  return make('div', { className: 'facts' }, fact(coverage.affected, 'may break'), fact(coverage.tests, 'of them tests'), fact(coverage.only_possible, 'uncertain'), coverage.left_out ? fact(coverage.left_out, 'not listed') : null);
}

function drawImpact(body, target, affected) {
  const drawn = affected.slice(0, MOST_DRAWN), columns = new Columns(), known = new Map([[target.id, target], ...drawn.map((each) => [each.id, each])]);
  const nodes = [...known.values()].map((each) => ({ id: each.id, name: each.qualname, detail: each.qualname === each.path ? '' : `${each.path.split('/').slice(-2).join('/')}:${each.line}`, kind: each.label, role: each.id === target.id ? 'centre' : each.is_test ? 'test' : '' }));
  columns.put(target.id, 0, 0, 0);
  nodes.slice(1).forEach((node, number) => columns.put(node.id, -drawn[number].distance, columns.places.get(drawn[number].needs)?.y ?? 0, sizeNode(node).width));
  const edges = drawn.map((each) => ({ start: each.id, end: known.has(each.needs) ? each.needs : target.id, type: each.relation, confidence: each.confidence }));
  const open = (id) => { if (id !== target.id && canOpen(known.get(id))) location.hash = addressOf(known.get(id), trailFrom()); };
  const drawing = new Drawing(`Impact of ${target.qualname}`, { open });
  body.append(drawing.element, affected.length > drawn.length ? make('p', { className: 'none' }, `The ${MOST_DRAWN} nearest are drawn; all are listed below.`) : '');
  drawing.show(nodes, edges, columns.places);
  return drawing;
}

function showFiles(title, found, trail, isFolded = false) {
  if (!found.length) return null;
  const files = new Map();
  for (const each of found) files.set(each.path, [...(files.get(each.path) ?? []), each]);
  const lists = [...files].map(([path, places]) => [make('h3', {}, path, ' ', make('span', { className: 'count' }, String(places.length))),
    make('ul', { className: 'entries' }, places.map((each) => listPlace(each, { lines: each.lines, confidence: each.confidence, note: `${VERBS[each.relation] ?? ''}; ${each.rule ?? ''}`, trail })))]);
  const inside = isFolded ? make('details', {}, make('summary', {}, count(found.length, 'place')), lists) : lists;
  return make('section', { 'aria-label': title }, make('h2', {}, title, ' ', make('span', { className: 'count' }, String(found.length))), inside);
}
