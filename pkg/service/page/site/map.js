// The map of a source: its folders and files, their imports, and import cycles. Folders open in their place.

import { ask } from './answers.js';
import { Drawing, readLibrary, sizeNode } from './drawing.js';
import { compare, countColumns, fillRows, findCycles, layer, placeRows } from './layout.js';
import { addressOf, badge, breakable, canOpen, mapArguments, writeAddress } from './places.js';
import { count, make, spell } from './words.js';

const MOST_CYCLES = 20;
const MOST_FOUND = 60; // listed results of a search in the map
const MOST_LINES = 45; // more imports than these are thinned to the strongest of each entry
const STRONGEST = 2; // drawn imports of an entry, in each direction
const MOST_DRAWN_LINES = 150; // more are a thicket
const MOST_MEMBERS = 12; // named members of a cycle
const NARROW = 700; // pixels; width of a portrait screen
const PACKED = 4; // open folders from which the order by height wins
const INSIDE = 18; // around the content of an open folder

export async function showMap(main, given, sources, signal) {
  const source = given.get('source') ?? (sources.length === 1 ? sources[0].name : null);
  if (source === null) return showSources(main, sources);
  const [lines] = await Promise.all([ask('map', mapArguments(source), signal), readLibrary()]);
  const map = new SourceMap(source, lines), folder = given.get('path') ?? map.findTop();
  document.title = spell(`${folder || source} · map · pkg`);
  main.replaceChildren(showWay(source, folder), showFacts(map, folder));
  return new MapView(main, map, folder, given.getAll('open')).start();
}

function showSources(main, sources) {
  document.title = 'pkg';
  const card = (each) => make('li', {}, make('a', { className: 'card', href: writeAddress('map', { source: each.name }) }, make('strong', {}, each.name), make('span', { className: 'under' }, each.root)));
  main.replaceChildren(make('header', { className: 'head' }, make('h1', { tabIndex: -1 }, sources.length ? 'Sources' : 'The graph is empty'), make('p', { className: 'under' }, sources.length ? 'Choose one to see its map, or search in all of them.' : 'Run pkg build.')),
    make('ul', { className: 'cards' }, sources.map(card)));
  return null;
}

const parentOf = (path) => path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
const isIn = (path, folder) => !folder || path.startsWith(`${folder}/`);

// The tree of folders and files, and the imports between files.
class SourceMap {
  constructor(source, lines) {
    this.source = source;
    this.files = lines.filter((each) => each.type === 'file');
    this.imports = lines.filter((each) => each.type === 'import' && each.between === 'files');
    this.coverage = lines.at(-1);
    this.entries = new Map([['', { path: '', isFile: false, files: 0, inside: [] }]]);
    for (const { path } of this.files) {
      this.entries.set(path, { path, isFile: true, files: 1, inside: [] });
      for (let at = path, isNew = true; at !== ''; at = parentOf(at)) {
        const folder = parentOf(at), known = this.entries.has(folder);
        if (!known) this.entries.set(folder, { path: folder, isFile: false, files: 0, inside: [] });
        if (isNew) this.entries.get(folder).inside.push(at);
        this.entries.get(folder).files += 1;
        isNew = isNew && !known;
      }
    }
    for (const each of this.entries.values()) each.inside.sort(compare);
  }

  // The first folder with more than one entry, as a map of a single box shows nothing.
  findTop() {
    let folder = this.coverage.path ?? '';
    for (;;) {
      const { inside } = this.entries.get(folder) ?? { inside: [] };
      if (inside.length !== 1 || this.entries.get(inside[0]).isFile) return folder;
      [folder] = inside;
    }
  }

  // The entries shown below a folder: files, closed folders, and open ones, which hold others.
  cutLevel(folder, open) {
    const nodes = new Map(), groups = new Map();
    const visit = (path, groupsAround) => {
      for (const child of this.entries.get(path)?.inside ?? []) {
        const entry = this.entries.get(child), made = { ...entry, id: child, around: path, into: 0, out: 0 };
        if (!entry.isFile && open.has(child)) {
          groups.set(child, made);
          visit(child, groupsAround + 1);
        } else nodes.set(child, made);
      }
    };
    visit(folder, 0);
    const owners = new Map();
    const find = (path) => {
      if (!owners.has(path)) {
        let at = path;
        while (at !== '' && !nodes.has(at)) at = parentOf(at);
        owners.set(path, at);
      }
      return owners.get(path);
    };
    const links = new Map();
    for (const each of this.imports) {
      const start = find(each.start), end = find(each.end);
      if (!start || !end || start === end) continue;
      const link = links.get(`${start}\n${end}`) ?? { start, end, count: 0, files: [] };
      link.count += each.count;
      link.files.push(each);
      links.set(`${start}\n${end}`, link);
    }
    const edges = [...links.values()], cycles = findCycles([...nodes.keys()].sort(), edges);
    for (const each of edges) {
      nodes.get(each.start).out += each.count;
      nodes.get(each.end).into += each.count;
      if (cycles.has(each.start) && cycles.get(each.start) === cycles.get(each.end)) each.cycle = cycles.get(each.start);
    }
    markStrongest(edges);
    return { nodes, groups, edges, cycles, find };
  }
}

// Mark the imports that are drawn unless their entry is selected: the most frequent ones of each entry.
function markStrongest(edges) {
  const left = new Map(), order = [...edges].sort((a, b) => b.count - a.count || compare(a.start, b.start) || compare(a.end, b.end));
  for (const each of order) {
    const isStrong = [`from ${each.start}`, `to ${each.end}`].map((key) => {
      left.set(key, (left.get(key) ?? STRONGEST) - 1);
      return left.get(key) >= 0;
    });
    each.isWeak = edges.length > MOST_LINES && !isStrong.some(Boolean);
  }
  for (const each of order.filter((edge) => !edge.isWeak).slice(MOST_DRAWN_LINES)) each.isWeak = true;
}

function showWay(source, folder) {
  const parts = folder.split('/').filter(Boolean);
  const link = (text, path) => make('li', {}, make('a', { href: writeAddress('map', { source, path }) }, text));
  return make('nav', { className: 'trail', 'aria-label': 'Folders' }, make('ol', {}, make('li', {}, make('a', { href: `#/map?${new URLSearchParams({ source })}&path=` }, source)),
    parts.map((part, number) => link(part, parts.slice(0, number + 1).join('/')))));
}

function showFacts(map, folder) {
  const files = map.files.filter((each) => isIn(each.path, folder));
  const cycles = new Set(files.map((each) => each.cycle).filter((each) => each !== null)).size;
  let inside = 0, into = 0, out = 0;
  for (const each of map.imports) {
    const starts = isIn(each.start, folder), ends = isIn(each.end, folder);
    if (starts && ends) inside += 1;
    else if (starts) out += each.count;
    else if (ends) into += each.count;
  }
  return make('header', { className: 'head wide' }, make('h1', { tabIndex: -1 }, 'Package map'),
    make('p', { className: 'under' }, `${count(files.length, 'file')}, ${count(inside, 'import')} between them, ${count(cycles, 'cycle')} of files.`,
      into + out ? ` ${into.toLocaleString('en')} imports lead into this folder, ${out.toLocaleString('en')} out of it.` : ''));
}

class MapView {
  constructor(main, map, folder, open) {
    this.main = main;
    this.map = map;
    this.folder = folder;
    this.opened = new Set(open.filter((each) => map.entries.has(each)));
    this.side = make('section', { className: 'side', 'aria-label': 'Selection' });
    this.note = make('p', { className: 'none', role: 'status' });
    this.search = make('input', { type: 'search', className: 'find-here', placeholder: 'Find in the map', 'aria-label': 'Find in the map', spellcheck: false, autocomplete: 'off', on: { input: () => this.find(), keydown: (event) => this.take(event) } });
    this.all = make('button', { type: 'button', on: { click: () => this.toggleAll() } });
    this.drawing = new Drawing(`Map of ${folder || map.source}`, { open: (id) => this.open(id), choose: (id) => this.tell(id), close: (id) => this.close(id) }, 'down');
    this.drawing.element.querySelector('.tools').prepend(this.all);
  }

  start() {
    this.main.append(make('div', { className: 'body map' }, make('div', { className: 'picture' }, this.drawing.element, this.note, showMapKey()), make('div', { className: 'beside' }, this.search, this.side)));
    this.draw();
    return this.drawing;
  }

  draw(chosen = null) {
    this.level = this.map.cutLevel(this.folder, this.opened);
    const { nodes, groups, edges, cycles } = this.level;
    const isNarrow = innerWidth < NARROW, { canvas } = this.drawing;
    const placed = new Placement(this.level, isNarrow ? 0.55 : Math.max(1, canvas.clientWidth / canvas.clientHeight), isNarrow ? 44 : 52).place(this.folder, this.map.entries);
    const drawn = [
      ...[...groups.values()].map((each) => ({ ...placed.groups.get(each.id), id: each.id, name: labelOf(each), detail: count(each.files, 'file'), kind: 'Folder', role: 'group' })),
      ...[...nodes.values()].map((each) => ({ ...describe(each), role: cycles.has(each.id) ? 'cyclic' : '' })),
    ];
    const lines = edges.map((each) => {
      const from = placed.places.get(each.start), to = placed.places.get(each.end);
      return { ...each, type: 'IMPORTS', confidence: each.isWeak ? 'weak' : '', role: each.cycle && to.y < from.y ? 'cyclic' : '', width: Math.min(4, 0.8 + Math.log2(each.count) / 2.5) };
    });
    this.drawing.show(drawn, lines, placed.places);
    if (chosen !== null) this.drawing.reveal(chosen);
    const weak = edges.filter((each) => each.isWeak).length;
    this.note.textContent = weak ? `The ${(edges.length - weak).toLocaleString('en')} most frequent of ${edges.length.toLocaleString('en')} imports are drawn. Select an entry to see all of its imports.` : '';
    const folders = [...this.map.entries.values()].filter((each) => !each.isFile && each.path !== this.folder && isIn(each.path, this.folder));
    this.isAllOpen = folders.every((each) => this.opened.has(each.path));
    this.all.textContent = this.isAllOpen ? 'Close all' : 'Open all';
    this.all.hidden = !folders.length;
    this.folders = folders.map((each) => each.path);
    if (this.search.value) this.find();
    else this.tell(this.drawing.chosen);
  }

  // Open or close a folder in its place, and keep that in the address.
  toggle(path) {
    if (this.opened.has(path)) for (const each of [...this.opened]) { if (each === path || isIn(each, path)) this.opened.delete(each); }
    else this.opened.add(path);
    this.keep(path);
  }

  toggleAll() {
    this.opened = new Set(this.isAllOpen ? [] : this.folders);
    this.drawing.chosen = null;
    this.keep(null);
  }

  keep(chosen) {
    history.replaceState(null, '', writeAddress('map', { source: this.map.source, path: this.folder, open: this.opened.size < this.folders.length || this.opened.size < 20 ? [...this.opened].sort() : [] }));
    this.draw(chosen);
  }

  // Open the folders around an entry, and select it.
  reveal(path) {
    for (let at = parentOf(path); at !== this.folder && at !== ''; at = parentOf(at)) this.opened.add(at);
    this.search.value = '';
    this.drawing.found = null;
    this.keep(path);
    this.tell(path);
    this.drawing.canvas.focus();
  }

  open(id) {
    if (!this.map.entries.get(id).isFile) this.toggle(id);
    else if (canOpen(this.asPlace(id))) location.hash = addressOf(this.asPlace(id));
  }

  // Close the open folder around an entry, or an open folder itself.
  close(id) {
    const path = this.opened.has(id) ? id : parentOf(id);
    if (this.opened.has(path)) this.toggle(path);
  }

  asPlace(path) {
    return { label: 'File', source: this.map.source, path, line: 0, qualname: path };
  }

  link(path, text = labelOf(this.map.entries.get(path))) {
    if (!this.map.entries.get(path).isFile) return make('a', { className: 'name', href: writeAddress('map', { source: this.map.source, path }) }, breakable(text));
    return canOpen(this.asPlace(path)) ? make('a', { className: 'name', href: addressOf(this.asPlace(path)) }, breakable(text)) : make('span', { className: 'name' }, breakable(text));
  }

  // Search the paths of all files and folders, open or not; in the drawing, fade the entries without results.
  find() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      this.drawing.found = null;
      this.drawing.mark();
      this.tell(this.drawing.chosen);
      return;
    }
    const found = [...this.map.entries.keys()].filter((path) => path !== this.folder && isIn(path, this.folder) && words.every((word) => path.toLowerCase().includes(word)));
    const rank = (path) => (path.split('/').at(-1).toLowerCase().includes(words.at(-1)) ? 0 : 1e6) + path.length;
    found.sort((a, b) => rank(a) - rank(b) || compare(a, b));
    this.drawing.found = new Set(found.map((path) => this.level.groups.has(path) ? path : this.level.find(path)));
    this.drawing.chosen = null;
    this.drawing.mark();
    const entry = (path) => make('li', { className: 'entry' }, badge(this.map.entries.get(path).isFile ? 'File' : 'Folder'), make('div', {}, make('button', { type: 'button', className: 'name plain', title: 'Show it in the map', on: { click: () => this.reveal(path) } }, breakable(this.folder ? path.slice(this.folder.length + 1) : path))));
    this.side.replaceChildren(make('h2', {}, 'Found ', make('span', { className: 'count', role: 'status' }, found.length.toLocaleString('en'))), make('ul', { className: 'entries' }, found.slice(0, MOST_FOUND).map(entry)), found.length > MOST_FOUND ? make('p', { className: 'none' }, `and ${(found.length - MOST_FOUND).toLocaleString('en')} more`) : '');
  }

  take(event) {
    const first = this.side.querySelector('button.name');
    if (event.key === 'Enter' && first && this.search.value) first.click();
    else if (event.key === 'Escape') { this.search.value = ''; this.find(); }
    else return;
    event.preventDefault();
  }

  // List the imports of the selected node in both directions, with files and lines; without one, list all entries.
  tell(id) {
    const { nodes, groups, edges, cycles } = this.level;
    if (!nodes.has(id)) {
      this.side.replaceChildren(...groups.has(id) ? [this.showAll(), ' ', this.link(id), ' ', this.showToggle(id)] : showCycles(cycles, edges), make('h2', {}, 'Here'), this.listInside(groups.has(id) ? id : this.folder));
      return;
    }
    const isFile = (path) => this.map.entries.get(path).isFile;
    const entry = (path, facts) => make('li', { className: 'entry' }, badge(isFile(path) ? 'File' : 'Folder', cycles.has(path) ? 'cyclic' : ''), make('div', {}, this.link(path), make('div', { className: 'under' }, facts)));
    const list = (title, some, pick) => some.length ? [make('h2', {}, title, ' ', make('span', { className: 'count' }, String(some.length))), make('ul', { className: 'entries' }, [...some].sort((a, b) => b.count - a.count).map((each) => entry(pick(each), [`${each.count}× `, each.cycle ? make('span', { className: 'sure cyclic' }, 'cycle') : null, make('details', {}, make('summary', {}, count(each.files.length, 'import')), each.files.slice(0, 50).map((file) => make('div', {}, `${file.start}:${file.line} → ${file.end}`)))])))] : [];
    this.side.replaceChildren(this.showAll(), ' ', this.link(id), ' ', isFile(id) ? '' : this.showToggle(id),
      ...list('Imports', edges.filter((each) => each.start === id), (each) => each.end), ...list('Imported by', edges.filter((each) => each.end === id), (each) => each.start));
  }

  showAll() {
    return make('button', { type: 'button', on: { click: () => { this.drawing.chosen = null; this.drawing.mark(); this.tell(null); } } }, 'All');
  }

  showToggle(path) {
    const isOpen = this.opened.has(path);
    return make('button', { type: 'button', className: 'toggle', 'aria-expanded': String(isOpen), 'aria-label': `${isOpen ? 'Close' : 'Open'} ${path} in the map`, on: { click: () => this.toggle(path) } }, isOpen ? '−' : '+');
  }

  // The entries of a folder, the most imported first, those of open folders below them.
  listInside(folder) {
    const { nodes, groups, cycles } = this.level;
    const weigh = (path) => nodes.get(path)?.into ?? this.map.entries.get(path).files;
    const entry = (path) => {
      const node = nodes.get(path), { isFile, files } = this.map.entries.get(path);
      const facts = [node ? `imported ${node.into}×, imports ${node.out}×` : '', isFile ? '' : count(files, 'file')].filter(Boolean).join(', ');
      return make('li', { className: 'entry' }, badge(isFile ? 'File' : 'Folder', cycles.has(path) ? 'cyclic' : ''),
        make('div', { className: 'grows' }, make('div', { className: 'row' }, this.link(path), isFile ? null : this.showToggle(path)), make('div', { className: 'under' }, facts), groups.has(path) ? this.listInside(path) : null));
    };
    return make('ul', { className: 'entries' }, [...this.map.entries.get(folder)?.inside ?? []].sort((a, b) => weigh(b) - weigh(a) || compare(a, b)).map(entry));
  }
}

const labelOf = (entry) => entry.path.split('/').at(-1) + (entry.isFile ? '' : '/');
const describe = (entry) => ({ id: entry.id, name: labelOf(entry), detail: entry.isFile ? '' : count(entry.files, 'file'), kind: entry.isFile ? 'File' : 'Folder' });

// Positions of all entries: each open folder is laid out by itself, and takes its place as one large entry.
class Placement {
  constructor(level, aspect, gap) {
    this.level = level;
    this.aspect = aspect; // width by height
    this.gap = gap; // between rows
    this.places = new Map();
    this.groups = new Map(); // sizes of open folders
  }

  place(folder, entries) {
    this.entries = entries;
    this.top = folder;
    this.settle(this.arrange(folder, this.aspect).inner, { x: 0, y: 0 });
    return this;
  }

  // Return the size of an open folder and of its title, and the places of its entries around the centre of its content.
  arrange(folder, aspect) {
    const ids = (this.entries.get(folder)?.inside ?? []), sizes = new Map(), inner = new Map();
    for (const id of ids) {
      const node = this.level.nodes.get(id);
      if (node) { sizes.set(id, sizeNode(describe(node))); continue; }
      inner.set(id, this.arrange(id, 1.5));
      sizes.set(id, inner.get(id));
    }
    const { rows, gap } = this.cutRows(folder, ids, sizes, aspect, inner.size);
    const { places, width, height } = placeRows(rows, sizes, { x: 22, y: gap }, folder === this.top ? aspect : 0);
    for (const [id, each] of inner) this.groups.set(id, each);
    const title = Math.min(190, 13 * Math.max(1, width / 400) ** 1.1); // so that it is readable from afar
    return { inner: places, title, width: width + 2 * INSIDE, height: height + title * 1.4 + 2 * INSIDE };
  }

  // The rows of a folder and the gap between them, importing entries above the imported ones. Open folders have many
  // sizes: they fill rows one after the other, and several of them by their height, which wastes no space.
  cutRows(folder, ids, sizes, aspect, opened) {
    const edges = this.joinEdges(folder, new Set(ids)), linked = new Set(edges.flatMap((each) => [each.start, each.end]));
    const tied = ids.filter((id) => linked.has(id)), alone = ids.filter((id) => !linked.has(id));
    const columns = countColumns(tied.map((id) => sizes.get(id)), aspect, this.gap);
    const rows = tied.length ? layer(tied, edges, columns, Math.max(2, Math.ceil(tied.length / columns) + 1)).rows : [];
    if (opened) {
      const order = [...rows.flat(), ...alone];
      if (opened >= PACKED) order.sort((a, b) => sizes.get(b).height - sizes.get(a).height || compare(a, b));
      return { rows: fillRows(order, sizes, aspect), gap: 30 };
    }
    const across = tied.length ? Math.max(columns, countColumns(alone.map((id) => sizes.get(id)), aspect * 2, 14)) : countColumns(alone.map((id) => sizes.get(id)), aspect, 14);
    for (let at = 0; at < alone.length; at += across) rows.push(alone.slice(at, at + across));
    return { rows, gap: tied.length ? this.gap : 14 };
  }

  // Move the entries of open folders to the places of these.
  settle(places, { x, y }) {
    for (const [id, place] of places) {
      const here = { x: x + place.x, y: y + place.y }, group = this.groups.get(id);
      this.places.set(id, here);
      if (group) this.settle(group.inner, { x: here.x, y: here.y + group.title * 0.7 });
    }
  }

  // The imports between the entries of one folder; an open one has those of all its content.
  joinEdges(folder, ids) {
    const links = new Map();
    const find = (path) => {
      let at = path;
      while (at !== '' && !ids.has(at)) at = parentOf(at);
      return at;
    };
    for (const each of this.level.edges) {
      if (!isIn(each.start, folder) || !isIn(each.end, folder)) continue;
      const start = find(each.start), end = find(each.end), key = `${start}\n${end}`;
      if (start === end) continue;
      links.set(key, { start, end, count: (links.get(key)?.count ?? 0) + each.count });
    }
    return [...links.values()];
  }
}

function showCycles(cycles, edges) {
  const groups = new Map();
  for (const [id, number] of cycles) groups.set(number, [...(groups.get(number) ?? []), id]);
  if (!groups.size) return [make('p', { className: 'good' }, 'No cycles here.')];
  const entry = ([number, ids]) => make('li', { className: 'entry' }, badge('Cycle', 'cyclic'), make('div', { className: 'members' }, ids.slice(0, MOST_MEMBERS).map((id) => id.split('/').at(-1)).join(', '), ids.length > MOST_MEMBERS ? ` and ${ids.length - MOST_MEMBERS} more` : '', make('div', { className: 'under' }, `${count(ids.length, 'member')}, ${count(edges.filter((each) => each.cycle === number).length, 'way')} between them`)));
  return [make('h2', {}, 'Cycles ', make('span', { className: 'count' }, String(groups.size))), make('ul', { className: 'entries' }, [...groups].slice(0, MOST_CYCLES).map(entry))];
}

function showMapKey() {
  const entry = (kind, text) => make('span', {}, make('i', { className: `key ${kind}` }), ` ${text}`);
  return make('p', { className: 'legend' }, entry('Folder', 'folder'), entry('File', 'file'), entry('cyclic', 'on a cycle'), entry('line', 'imports, downwards'), entry('back', 'imports upwards, and closes a cycle'));
}
