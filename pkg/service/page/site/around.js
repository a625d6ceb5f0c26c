// The graph around a symbol: dependents on the left, dependencies on the right; nodes can be grown.

import { ask } from './answers.js';
import { Drawing, sizeNode } from './drawing.js';
import { Columns } from './layout.js';
import { NEEDED_BY, NEEDS, joinLinks } from './links.js';
import { addressOf, canOpen, nameOf, showArguments, trailFrom } from './places.js';
import { make } from './words.js';

const MOST_PER_STEP = 12; // new nodes per side; the lists beside the code have the rest
const MOST_AROUND = 120;

export class GraphView {
  constructor(body, target, lines) {
    this.body = body;
    this.target = target;
    this.columns = new Columns();
    this.nodes = new Map();
    this.edges = new Map();
    this.grown = new Set();
    this.withUnsure = false;
    this.left = 0; // links that are not drawn
    this.first = lines;
    this.drawing = new Drawing(`Graph around ${target.qualname}`, {
      open: (id) => this.open(id), choose: (id) => this.offer(id), grow: (id) => this.grow(id),
    });
    this.note = make('p', { className: 'none', role: 'status' });
    this.offered = make('p', { className: 'offered' });
  }

  start() {
    const unsure = joinLinks(this.first).filter((each) => each.confidence === 'possible').length;
    const box = make('input', { type: 'checkbox', id: 'unsure', on: { change: () => this.toggle(box.checked) } });
    const fold = unsure ? make('label', { className: 'fold' }, box, ` uncertain links (${unsure})`) : null;
    this.body.append(make('div', { className: 'bar' }, this.offered, fold), this.drawing.element, this.note, showKey());
    this.reset();
    return this.drawing;
  }

  reset() {
    this.columns = new Columns();
    this.nodes.clear();
    this.edges.clear();
    this.grown.clear();
    this.left = 0;
    this.put(this.target, 0, 0, 'centre');
    this.add(this.target, this.first);
    this.draw(false);
    this.offer(this.target.id);
  }

  toggle(withUnsure) {
    this.withUnsure = withUnsure;
    this.reset();
  }

  put(place, column, near, role = '') {
    if (this.nodes.has(place.id)) return true;
    if (this.nodes.size >= MOST_AROUND) return false;
    const detail = place.path && place.qualname !== place.path ? `${place.path.split('/').slice(-2).join('/')}:${place.line}` : place.path ? '' : 'library';
    this.nodes.set(place.id, { id: place.id, name: place.qualname, detail, kind: place.label, role, place });
    this.columns.put(place.id, column, near, sizeNode({ name: place.qualname, detail }).width);
    return true;
  }

  // Add the links of a drawn place, one column further out, its own side first.
  add(place, lines) {
    this.grown.add(place.id);
    const { y } = this.columns.places.get(place.id), column = this.columns.column.get(place.id);
    const links = joinLinks(lines).filter((each) => this.withUnsure || each.confidence !== 'possible');
    for (const [relations, step] of [[NEEDED_BY, -1], [NEEDS, 1]]) {
      const found = links.filter((each) => relations.includes(each.relation) && each.id !== place.id); // in the order of the answer, the product first
      const fresh = found.filter((each) => !this.nodes.has(each.id));
      const taken = fresh.slice(0, MOST_PER_STEP), middle = (taken.length - 1) / 2;
      const shown = new Set(taken.filter((each, number) => this.put(each, column + step, y + (number - middle) * this.columns.gap.y)).map((each) => each.id));
      this.left += fresh.length - shown.size;
      for (const each of found) {
        if (!this.nodes.has(each.id)) continue;
        const [start, end] = step < 0 ? [each.id, place.id] : [place.id, each.id];
        this.edges.set(`${start} ${end} ${each.relation}`, { start, end, type: typeOf(each.relation), confidence: each.confidence });
      }
    }
  }

  draw(keepsView) {
    this.drawing.show([...this.nodes.values()], [...this.edges.values()], this.columns.places, { keepsView });
    this.note.textContent = this.left ? `${this.left} more are not drawn; the lists beside the code have them.` : '';
  }

  offer(id) {
    const { place } = this.nodes.get(id), isCentre = id === this.target.id;
    const grow = this.grown.has(id) || !canOpen(place) ? null : make('button', { type: 'button', on: { click: () => this.grow(id) } }, 'Grow');
    const open = isCentre || !canOpen(place) ? null : make('a', { href: addressOf(place, trailFrom(), 'graph') }, 'Open');
    this.offered.replaceChildren(make('strong', {}, place.qualname), ' ', ...[grow, ' ', open].filter(Boolean));
  }

  async grow(id) {
    const { place } = this.nodes.get(id);
    if (this.grown.has(id) || !canOpen(place)) return;
    this.add(place, await ask('show', showArguments(nameOf(place), place.source)));
    this.draw(false);
    this.drawing.choose(id);
    this.offer(id);
  }

  open(id) {
    const { place } = this.nodes.get(id);
    if (id !== this.target.id && canOpen(place)) location.hash = addressOf(place, trailFrom(), 'graph');
  }
}

const typeOf = (relation) => ({
  callers: 'CALLS', callees: 'CALLS', 'module callees': 'CALLS', importers: 'RESOLVES_TO', imports: 'RESOLVES_TO', subclasses: 'INHERITS',
  bases: 'INHERITS', 'overridden by': 'OVERRIDES', overrides: 'OVERRIDES', readers: 'READS',
})[relation];

export function showKey() {
  const entry = (kind, text) => make('span', {}, make('i', { className: `key ${kind}` }), ` ${text}`);
  return make('p', { className: 'legend' }, entry('Function', 'function'), entry('Class', 'class'), entry('Constant', 'constant'), entry('File', 'file'), entry('Library', 'library'),
    entry('line', 'calls'), entry('dots', 'imports, reads'), entry('inherits', 'inherits, overrides'));
}
