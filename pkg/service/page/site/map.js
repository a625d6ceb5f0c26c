// The map of a source: its folders and files, their imports, and import cycles.

import { ask } from './answers.js';
import { Drawing, readLibrary, sizeNode } from './drawing.js';
import { findCycles, layer, placeRows } from './layout.js';
import { addressOf, badge, canOpen, mapArguments, writeAddress } from './places.js';
import { count, make, spell } from './words.js';

const MOST_DRAWN_HERE = 60; // of one folder, the most imported ones
const MOST_CYCLES = 20;
const NARROW = 700; // pixels; width of a portrait screen

export async function showMap(main, given, sources, signal) {
  const source = given.get('source') ?? (sources.length === 1 ? sources[0].name : null);
  if (source === null) return showSources(main, sources);
  const [lines] = await Promise.all([ask('map', mapArguments(source), signal), readLibrary()]);
  const map = new SourceMap(source, lines), folder = given.get('path') ?? map.findTop();
  document.title = spell(`${folder || source} · map · pkg`);
  const level = map.cutLevel(folder);
  main.replaceChildren(showWay(source, folder), showFacts(map, level));
  return new MapView(main, map, folder, level).start();
}

function showSources(main, sources) {
  document.title = 'pkg';
  const card = (each) => make('li', {}, make('a', { className: 'card', href: writeAddress('map', { source: each.name }) }, make('strong', {}, each.name), make('span', { className: 'under' }, each.root)));
  main.replaceChildren(make('header', { className: 'head' }, make('h1', { tabIndex: -1 }, sources.length ? 'Sources' : 'The graph is empty'), make('p', { className: 'under' }, sources.length ? 'Choose one to see its map, or search in all of them.' : 'Run pkg build.')),
    make('ul', { className: 'cards' }, sources.map(card)));
  return null;
}

class SourceMap {
  constructor(source, lines) {
    this.source = source;
    this.files = lines.filter((each) => each.type === 'file');
    this.imports = lines.filter((each) => each.type === 'import' && each.between === 'files');
    this.coverage = lines.at(-1);
    this.kinds = new Map(this.files.map((each) => [each.path, each]));
  }

  // The first folder with more than one entry, as a map of a single box shows nothing.
  findTop() {
    let folder = this.coverage.path ?? '';
    for (;;) {
      const inside = new Set(this.files.filter((each) => isIn(each.path, folder)).map((each) => childOf(each.path, folder)));
      const [only] = inside;
      if (inside.size !== 1 || this.kinds.has(only)) return folder;
      folder = only;
    }
  }

  // The entries of a folder and the imports between them; a subfolder has the imports of all its files.
  cutLevel(folder) {
    const children = new Map();
    for (const each of this.files) {
      if (!isIn(each.path, folder)) continue;
      const path = childOf(each.path, folder), child = children.get(path) ?? { id: path, path, files: 0, isFile: this.kinds.has(path), cycles: new Set(), into: 0, out: 0 };
      child.files += 1;
      if (each.cycle !== null) child.cycles.add(each.cycle);
      children.set(path, child);
    }
    const links = new Map();
    let outside = 0, inside = 0;
    for (const each of this.imports) {
      const starts = isIn(each.start, folder), ends = isIn(each.end, folder);
      if (!starts || !ends) { outside += starts ? each.count : 0; inside += ends ? each.count : 0; continue; }
      const start = childOf(each.start, folder), end = childOf(each.end, folder);
      if (start === end) continue;
      const link = links.get(`${start}\n${end}`) ?? { start, end, count: 0, files: [] };
      link.count += each.count;
      link.files.push(each);
      links.set(`${start}\n${end}`, link);
    }
    const edges = [...links.values()], nodes = [...children.values()], cycles = findCycles(nodes.map((each) => each.id).sort(), edges);
    for (const each of edges) {
      children.get(each.start).out += each.count;
      children.get(each.end).into += each.count;
      if (cycles.has(each.start) && cycles.get(each.start) === cycles.get(each.end)) each.cycle = cycles.get(each.start);
    }
    return { nodes, edges, cycles, outside, inside };
  }
}

const isIn = (path, folder) => !folder || path.startsWith(`${folder}/`);
const childOf = (path, folder) => {
  const rest = folder ? path.slice(folder.length + 1) : path, first = rest.split('/')[0];
  return folder ? `${folder}/${first}` : first;
};

function showWay(source, folder) {
  const parts = folder.split('/').filter(Boolean);
  const link = (text, path) => make('li', {}, make('a', { href: writeAddress('map', { source, path }) }, text));
  return make('nav', { className: 'trail', 'aria-label': 'Folders' }, make('ol', {}, make('li', {}, make('a', { href: `#/map?${new URLSearchParams({ source })}&path=` }, source)),
    parts.map((part, number) => link(part, parts.slice(0, number + 1).join('/')))));
}

function showFacts(map, level) {
  const files = map.files.length, cycles = new Set(map.files.map((each) => each.cycle).filter((each) => each !== null)).size;
  return make('header', { className: 'head' }, make('h1', { tabIndex: -1 }, 'Package map'),
    make('p', { className: 'under' }, `${count(files, 'file')}, ${count(map.imports.length, 'import')} between them, ${count(cycles, 'cycle')} of files.`,
      level.outside + level.inside ? ` ${level.inside.toLocaleString('en')} imports lead into this folder, ${level.outside.toLocaleString('en')} out of it.` : ''));
}

class MapView {
  constructor(main, map, folder, level) {
    this.main = main;
    this.map = map;
    this.folder = folder;
    const order = [...level.nodes].sort((a, b) => b.into + b.out - a.into - a.out || (a.id < b.id ? -1 : 1));
    const kept = new Set(order.slice(0, MOST_DRAWN_HERE).map((each) => each.id));
    this.dropped = level.nodes.length - kept.size;
    this.nodes = new Map(level.nodes.filter((each) => kept.has(each.id)).map((each) => [each.id, each]));
    this.edges = level.edges.filter((each) => kept.has(each.start) && kept.has(each.end));
    this.cycles = level.cycles;
    this.side = make('section', { className: 'side', 'aria-label': 'Selection' });
    this.drawing = new Drawing(`Map of ${folder || map.source}`, { open: (id) => this.open(id), choose: (id) => this.tell(id) }, 'down');
  }

  start() {
    const nodes = [...this.nodes.values()].map((each) => ({ id: each.id, name: each.path.split('/').at(-1) + (each.isFile ? '' : '/'), detail: each.isFile ? '' : count(each.files, 'file'), kind: each.isFile ? 'File' : 'Folder', role: this.cycles.has(each.id) ? 'cyclic' : '' }));
    const sizes = new Map(nodes.map((node) => [node.id, sizeNode(node)])), linked = new Set(this.edges.flatMap((each) => [each.start, each.end]));
    const ids = nodes.map((node) => node.id), alone = ids.filter((id) => !linked.has(id)).sort();
    const isNarrow = innerWidth < NARROW;
    const { rows, isBack } = layer(ids.filter((id) => linked.has(id)), this.edges, isNarrow ? 3 : 7, isNarrow ? 9 : 7);
    for (let at = 0; at < alone.length; at += isNarrow ? 3 : 8) rows.push(alone.slice(at, at + (isNarrow ? 3 : 8)));
    const edges = this.edges.map((each) => ({ ...each, type: 'IMPORTS', role: each.cycle && isBack(each) ? 'cyclic' : '', width: Math.min(5, 1 + Math.log2(each.count) / 2) }));
    const note = this.dropped ? make('p', { className: 'none' }, `${this.dropped} rarely imported entries are not drawn; the list has them.`) : null;
    this.main.append(make('div', { className: 'body map' }, make('div', { className: 'picture' }, this.drawing.element, note, showMapKey()), this.side));
    this.drawing.show(nodes, edges, placeRows(rows, sizes, isNarrow ? 0.55 : 1.3, { x: 24, y: isNarrow ? 44 : 62 }));
    this.tell(null);
    return this.drawing;
  }

  open(id) {
    const node = this.nodes.get(id);
    if (!node.isFile) location.hash = writeAddress('map', { source: this.map.source, path: id });
    else if (canOpen(this.asPlace(id))) location.hash = addressOf(this.asPlace(id));
  }

  asPlace(path) {
    return { label: 'File', source: this.map.source, path, line: 0, qualname: path };
  }

  link(id) {
    const node = this.nodes.get(id), name = id.split('/').at(-1);
    if (node && !node.isFile) return make('a', { className: 'name', href: writeAddress('map', { source: this.map.source, path: id }) }, `${name}/`);
    return canOpen(this.asPlace(id)) ? make('a', { className: 'name', href: addressOf(this.asPlace(id)) }, name) : make('span', { className: 'name' }, name);
  }

  // List the imports of the selected node in both directions, with files and lines; without one, list all nodes.
  tell(id) {
    const isFile = (path) => this.map.kinds.has(path);
    const entry = (path, facts) => make('li', { className: 'entry' }, badge(isFile(path) ? 'File' : 'Folder', this.cycles.has(path) ? 'cyclic' : ''), make('div', {}, this.link(path), make('div', { className: 'under' }, facts)));
    if (id === null) {
      const order = [...this.nodes.values()].sort((a, b) => b.into - a.into || (a.id < b.id ? -1 : 1));
      this.side.replaceChildren(...showCycles(this.cycles, this.edges), make('h2', {}, 'Here'), make('ul', { className: 'entries' }, order.map((each) => entry(each.id, `imported ${each.into}×, imports ${each.out}×${each.isFile ? '' : `, ${count(each.files, 'file')}`}`))));
      return;
    }
    const list = (title, edges, pick) => edges.length ? [make('h2', {}, title, ' ', make('span', { className: 'count' }, String(edges.length))), make('ul', { className: 'entries' }, [...edges].sort((a, b) => b.count - a.count).map((each) => entry(pick(each), [`${each.count}× `, each.cycle ? make('span', { className: 'sure cyclic' }, 'cycle') : null, make('details', {}, make('summary', {}, count(each.files.length, 'import')), each.files.slice(0, 50).map((file) => make('div', {}, `${file.start}:${file.line} → ${file.end}`)))])))] : [];
    this.side.replaceChildren(make('button', { type: 'button', on: { click: () => { this.drawing.chosen = null; this.drawing.mark(); this.tell(null); } } }, 'All'), ' ', this.link(id),
      ...list('Imports', this.edges.filter((each) => each.start === id), (each) => each.end), ...list('Imported by', this.edges.filter((each) => each.end === id), (each) => each.start));
  }
}

function showCycles(cycles, edges) {
  const groups = new Map();
  for (const [id, number] of cycles) groups.set(number, [...(groups.get(number) ?? []), id]);
  if (!groups.size) return [make('p', { className: 'good' }, 'No cycles here.')];
  const entry = ([number, ids]) => make('li', { className: 'entry' }, badge('Cycle', 'cyclic'), make('div', { className: 'members' }, ids.map((id) => id.split('/').at(-1)).join(', '), make('div', { className: 'under' }, `${count(ids.length, 'member')}, ${count(edges.filter((each) => each.cycle === number).length, 'way')} between them`)));
  return [make('h2', {}, 'Cycles ', make('span', { className: 'count' }, String(groups.size))), make('ul', { className: 'entries' }, [...groups].slice(0, MOST_CYCLES).map(entry))];
}

function showMapKey() {
  const entry = (kind, text) => make('span', {}, make('i', { className: `key ${kind}` }), ` ${text}`);
  return make('p', { className: 'legend' }, entry('Folder', 'folder'), entry('File', 'file'), entry('cyclic', 'on a cycle'), entry('line', 'imports, downwards'), entry('back', 'imports upwards, and closes a cycle'));
}
