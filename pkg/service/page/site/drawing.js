// Draw a graph with mouse and keyboard navigation, and export it as SVG and PNG.

import { make, spell } from './words.js';

const FONT = 12, LINE = 15, PAD = 10, MOST_LETTERS = 34;
const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const LEAST_ZOOM = 0.6; // keeps names readable on a phone, where the rest is reached by panning
const MOST_ZOOM = 1.15; // keeps small graphs from being magnified

const cut = (text) => text.length > MOST_LETTERS ? `…${text.slice(1 - MOST_LETTERS)}` : text;
const pen = document.createElement('canvas').getContext('2d');
const measure = (text, weight) => {
  pen.font = `${weight} ${FONT}px ${SANS}`;
  return pen.measureText(text).width;
};

// The size of a node, by its two lines of text.
export function sizeNode({ name, detail }) {
  const widest = Math.max(measure(cut(spell(name)), 600), detail ? measure(cut(spell(detail)), 600) : 0);
  return { width: Math.ceil(widest) + 2 * PAD + 4, height: (detail ? 2 : 1) * LINE + 2 * PAD - 4 };
}

// The current colours of the page, light or dark.
function readColours() {
  const probe = make('i', { hidden: true });
  document.body.append(probe);
  const names = ['bg', 'surface', 'line', 'text', 'dim', 'accent', 'on-accent', 'function', 'class', 'constant', 'file', 'folder', 'bad', 'edge', 'warn'];
  const colours = Object.fromEntries(names.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  }));
  probe.remove();
  return colours;
}

const DASHES = { OVERRIDES: [6, 4], RESOLVES_TO: [2, 4], READS: [2, 4], possible: [3, 4], likely: [8, 3] };

// Load the large drawing library at the first drawing, unless it is part of the file.
let library = null;
export function readLibrary() {
  if (window.cytoscape) return null;
  library ??= new Promise((done, fail) => {
    document.head.append(make('script', { src: 'page/vendor/cytoscape.min.js', on: { load: done, error: () => fail(new Error('cannot load cytoscape.min.js')) } }));
  });
  return library;
}

export class Drawing {
  // on: open(id), choose(id), grow(id), close(id)
  constructor(title, on, direction = 'across') {
    this.on = on;
    this.direction = direction;
    this.nodes = new Map();
    this.edges = [];
    this.places = new Map();
    this.found = null; // ids of search results; others are faded
    this.canvas = make('div', { className: 'canvas', tabIndex: 0, role: 'application', 'aria-label': `${title}. Arrow keys move between nodes, Enter opens, plus grows, 0 shows all.` });
    this.told = make('p', { className: 'told', role: 'status' });
    this.element = make('div', { className: 'drawing' }, make('div', { className: 'strip' }, this.told, this.makeTools(title)), this.canvas);
    this.canvas.addEventListener('keydown', (event) => this.press(event));
  }

  makeTools(title) {
    const button = (text, label, click) => make('button', { type: 'button', title: label, 'aria-label': /^\w/.test(text) ? null : label, on: { click } }, text);
    return make('div', { className: 'tools' },
      button('+', 'Zoom in', () => this.zoom(1.25)), button('−', 'Zoom out', () => this.zoom(0.8)), button('Fit', 'Show all', () => this.fit()),
      button('SVG', 'Save as SVG', () => save(new Blob([this.writeSvg()], { type: 'image/svg+xml' }), `${title}.svg`)),
      button('PNG', 'Save as PNG', async () => save(await this.writePng(), `${title}.png`)));
  }

  // Show nodes at their places; nodes shown before do not move.
  show(nodes, edges, places, { keepsView = false } = {}) {
    this.nodes = new Map(nodes.map((node) => [node.id, { ...sizeNode(node), ...node }]));
    this.edges = edges.filter((edge) => this.nodes.has(edge.start) && this.nodes.has(edge.end));
    this.places = places;
    if (!this.nodes.has(this.chosen)) this.chosen = null;
    if (!this.cy) this.start();
    const controls = new Map(this.edges.map((edge) => [edge, this.bend(edge)]));
    this.cy.batch(() => {
      this.cy.elements().remove();
      this.cy.add([...this.nodes.values()].map((node) => ({
        data: { ...node, text: [cut(spell(node.name)), node.detail ? cut(spell(node.detail)) : ''].filter(Boolean).join(node.role === 'group' ? '  ' : '\n') },
        position: { ...places.get(node.id) }, classes: [node.kind, node.role].filter(Boolean).join(' '),
      })));
      this.cy.add(this.edges.map((edge, number) => ({
        data: { id: `edge ${number}`, source: edge.start, target: edge.end, width: edge.width ?? 1.5, ...controls.get(edge).cytoscape },
        classes: [edge.type, edge.confidence, edge.role].filter(Boolean).join(' '),
      })));
    });
    if (!keepsView) this.fit();
    this.mark();
  }

  start() {
    this.cy = cytoscape({
      container: this.canvas, elements: [], layout: { name: 'preset' }, minZoom: 0.04, maxZoom: 3, autoungrabify: true, boxSelectionEnabled: false,
      selectionType: 'single', style: [],
    });
    this.repaint();
    this.cy.on('tap', 'node', (event) => {
      const id = event.target.id();
      if (this.chosen === id) this.on.open?.(id);
      else this.choose(id, true);
    });
    this.cy.on('mouseover', 'node', (event) => this.mark(event.target.id()));
    this.cy.on('mouseout', 'node', () => this.mark());
    let width = this.canvas.clientWidth;
    this.watcher = new ResizeObserver(() => {
      this.cy.resize();
      if (width !== this.canvas.clientWidth) this.fit();
      width = this.canvas.clientWidth;
    });
    this.watcher.observe(this.canvas);
  }

  end() {
    this.watcher?.disconnect();
    this.cy?.destroy();
  }

  // End points and control points of an edge.
  bend({ start, end }) {
    const from = this.places.get(start), to = this.places.get(end), a = this.nodes.get(start), b = this.nodes.get(end);
    const [main, cross, size] = this.direction === 'across' ? ['x', 'y', 'width'] : ['y', 'x', 'height'];
    const gap = to[main] - from[main], isBeside = Math.abs(gap) < 1;
    const way = isBeside ? 1 : Math.sign(gap), arrive = isBeside ? 1 : -way;
    const s = { ...from }, e = { ...to };
    s[main] += way * a[size] / 2;
    e[main] += arrive * b[size] / 2;
    const reach = isBeside ? 26 + Math.min(60, Math.abs(e[cross] - s[cross]) * 0.25) : Math.max(18, Math.abs(e[main] - s[main]) * 0.34);
    const c = { ...s }, d = { ...e };
    c[main] += way * reach;
    d[main] += arrive * reach;
    return { s, c, d, e, cytoscape: this.tellBend(s, c, d, e, way, arrive) };
  }

  // The same for Cytoscape: control points by their fraction along the edge and their distance from it.
  tellBend(s, c, d, e, way, arrive) {
    const along = { x: e.x - s.x, y: e.y - s.y }, length = Math.hypot(along.x, along.y) || 1;
    const split = (point) => {
      const x = point.x - s.x, y = point.y - s.y;
      return [(x * along.x + y * along.y) / length ** 2, (-along.y * x + along.x * y) / length];
    };
    const [cw, cd] = split(c), [dw, dd] = split(d);
    const side = (sign) => this.direction === 'across' ? `${50 * sign}% 0%` : `0% ${50 * sign}%`;
    return { weights: [cw, dw], distances: [cd, dd], leave: side(way), arrive: side(arrive) };
  }

  repaint() {
    if (!this.cy) return;
    const of = readColours();
    const kind = (name, colour) => ({ selector: `node.${name}`, style: { 'border-color': colour } });
    this.cy.style([
      { selector: 'node', style: {
        shape: 'round-rectangle', 'corner-radius': 7, width: 'data(width)', height: 'data(height)', 'background-color': of.surface, 'border-width': 1.5, 'border-color': of.line,
        label: 'data(text)', 'text-wrap': 'wrap', 'text-valign': 'center', 'text-halign': 'center', 'font-size': FONT, 'font-family': SANS, 'font-weight': 600, color: of.text, 'line-height': 1.25, 'overlay-opacity': 0, 'min-zoomed-font-size': 5,
      } },
      kind('Function', of.function), kind('Class', of.class), kind('Constant', of.constant), kind('File', of.file), kind('Folder', of.folder),
      { selector: 'node.Library', style: { 'border-style': 'dashed', 'border-color': of.dim, color: of.dim } },
      { selector: 'node.test', style: { 'border-style': 'dotted' } },
      { selector: 'node.cyclic', style: { 'border-color': of.bad } },
      { selector: 'node.centre', style: { 'background-color': of.accent, 'border-color': of.accent, color: of['on-accent'] } },
      { selector: 'node.group', style: { 'z-compound-depth': 'bottom', 'background-color': of.folder, 'background-opacity': 0.07, 'border-width': 1, 'text-valign': 'top', 'text-margin-y': (each) => each.data('title') * 1.4, 'font-size': 'data(title)', color: of.folder, 'min-zoomed-font-size': 0 } },
      { selector: 'node.chosen', style: { 'border-width': 4, 'border-color': of.accent } },
      { selector: 'node.centre.chosen', style: { 'border-color': of.text } },
      { selector: 'edge', style: {
        width: (each) => each.data('width'), 'curve-style': 'unbundled-bezier', 'edge-distances': 'endpoints', 'control-point-weights': (each) => each.data('weights'), 'control-point-distances': (each) => each.data('distances'),
        'source-endpoint': 'data(leave)', 'target-endpoint': 'data(arrive)', 'line-color': of.edge, 'target-arrow-color': of.edge, 'target-arrow-shape': 'triangle', 'arrow-scale': 0.9, 'overlay-opacity': 0,
      } },
      { selector: 'edge.INHERITS', style: { 'target-arrow-shape': 'triangle', 'target-arrow-fill': 'hollow', 'line-color': of.class, 'target-arrow-color': of.class } },
      { selector: 'edge.OVERRIDES', style: { 'line-style': 'dashed', 'line-dash-pattern': DASHES.OVERRIDES, 'line-color': of.class, 'target-arrow-color': of.class } },
      { selector: 'edge.RESOLVES_TO, edge.READS', style: { 'line-style': 'dashed', 'line-dash-pattern': [2, 4] } },
      { selector: 'edge.possible', style: { 'line-style': 'dashed', 'line-dash-pattern': DASHES.possible, 'line-color': of.warn, 'target-arrow-color': of.warn } },
      { selector: 'edge.cyclic', style: { 'line-color': of.bad, 'target-arrow-color': of.bad, 'line-style': 'solid' } },
      { selector: 'edge.IMPORTS', style: { 'line-opacity': 0.6, 'arrow-scale': 0.7 } },
      { selector: 'edge.weak', style: { display: 'none' } },
      { selector: '.faded', style: { opacity: 0.16 } },
      { selector: 'edge.faded', style: { opacity: 0.05 } },
      { selector: 'edge.weak.lit', style: { display: 'element' } },
      { selector: 'edge.lit', style: { 'line-opacity': 1 } },
      { selector: 'edge.lit', style: { width: (each) => each.data('width') + 1, 'z-index': 9 } },
    ]);
    this.colours = of;
  }

  // Highlight a node and its neighbours; without an id, the selected node, or all.
  mark(id = this.chosen) {
    this.cy.batch(() => {
      this.cy.elements().removeClass('faded lit chosen');
      if (this.chosen) this.cy.getElementById(this.chosen).addClass('chosen');
      if (!id && this.found) this.cy.nodes().filter((each) => !this.found.has(each.id()) && each.data('role') !== 'group').addClass('faded');
      if (!id && this.found) this.cy.edges().addClass('faded');
      if (!id) return;
      const node = this.cy.getElementById(id), near = node.closedNeighborhood();
      if (near.length < 2) return;
      this.cy.elements().difference(near).not('.group').addClass('faded');
      node.connectedEdges().addClass('lit');
    });
  }

  choose(id, isTold = false) {
    this.chosen = id;
    this.mark();
    const node = this.nodes.get(id);
    if (!node) return;
    this.told.textContent = spell([node.name, node.detail, this.on.open ? `Enter or a second click ${node.role === 'group' ? 'closes' : 'opens'} it` : ''].filter(Boolean).join(' · '));
    if (isTold) this.on.choose?.(id);
  }

  zoom(by) {
    this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 } });
  }

  fit() {
    if (!this.cy) return;
    this.cy.resize();
    this.cy.fit(undefined, 24);
    const centre = [...this.nodes.values()].find((node) => node.role === 'centre');
    if (this.cy.zoom() > MOST_ZOOM) {
      this.cy.zoom(MOST_ZOOM);
      this.cy.center();
    } else if (this.cy.zoom() < LEAST_ZOOM && centre) {
      this.cy.zoom(LEAST_ZOOM);
      this.cy.center(this.cy.getElementById(centre.id));
    }
  }

  // Select a node; if all nodes together are too small to read, show only those around it.
  reveal(id) {
    this.choose(id);
    const node = this.nodes.get(id);
    if (!node || this.cy.zoom() >= LEAST_ZOOM) return;
    const box = this.cy.getElementById(id);
    this.cy.zoom(Math.min(MOST_ZOOM, Math.max(this.cy.zoom(), Math.min(this.canvas.clientWidth / (node.width + 60), this.canvas.clientHeight / (node.height + 60)))));
    this.cy.center(box);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (way) this.step(...way);
    else if (event.key === 'Enter' && this.chosen) this.on.open?.(this.chosen);
    else if ((event.key === '+' || event.key === ' ') && this.chosen && this.on.grow) this.on.grow(this.chosen);
    else if (event.key === '-' && this.chosen && this.on.close) this.on.close(this.chosen);
    else if (event.key === '0') this.fit();
    else if (event.key === 'Escape') { this.chosen = null; this.mark(); this.told.textContent = ''; }
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Select the nearest node in a direction; without a selection, the centre or the first node.
  step(x, y) {
    const from = this.places.get(this.chosen);
    let best = null, least = Infinity;
    for (const [id, { role }] of this.nodes) {
      if (role === 'group') continue;
      if (!from) { best = [...this.nodes.values()].find((node) => node.role === 'centre')?.id ?? id; break; }
      const to = this.places.get(id), along = (to.x - from.x) * x + (to.y - from.y) * y, across = Math.abs((to.x - from.x) * y) + Math.abs((to.y - from.y) * x);
      const cost = along + 2 * across;
      if (id !== this.chosen && along > 1 && cost < least) [best, least] = [id, cost];
    }
    if (best === null) return;
    this.choose(best, true);
    const box = this.cy.extent(), place = this.places.get(best);
    if (place.x < box.x1 || place.x > box.x2 || place.y < box.y1 || place.y > box.y2) this.cy.center(this.cy.getElementById(best));
  }

  async writePng() {
    return this.cy.png({ output: 'blob-promise', full: true, scale: 2, bg: this.colours.bg });
  }

  writeSvg() {
    const of = this.colours, space = 'http://www.w3.org/2000/svg';
    const draw = (tag, facts, ...inside) => {
      const made = document.createElementNS(space, tag);
      for (const [name, value] of Object.entries(facts)) made.setAttribute(name, value);
      made.append(...inside);
      return made;
    };
    const boxes = [...this.nodes.values()].map((node) => ({ ...node, ...this.places.get(node.id) })), groups = boxes.filter((box) => box.role === 'group');
    const edge = (pick, by) => Math[by](...boxes.map(pick));
    const left = edge((b) => b.x - b.width / 2, 'min') - 60, top = edge((b) => b.y - b.height / 2, 'min') - 40;
    const width = edge((b) => b.x + b.width / 2, 'max') + 60 - left, height = edge((b) => b.y + b.height / 2, 'max') + 40 - top;
    const svg = draw('svg', { xmlns: space, viewBox: `${left} ${top} ${width} ${height}`, width, height, 'font-family': SANS, 'font-size': FONT },
      draw('rect', { x: left, y: top, width, height, fill: of.bg }));
    for (const box of groups) {
      svg.append(draw('rect', { x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height, rx: 7, fill: of.folder, 'fill-opacity': 0.07, stroke: of.folder }),
        draw('text', { x: box.x, y: box.y - box.height / 2 + box.title * 1.2, 'text-anchor': 'middle', 'font-weight': 600, 'font-size': box.title, fill: of.folder }, spell(`${box.name}  ${box.detail}`)));
    }
    for (const each of this.edges.filter((edge) => edge.confidence !== 'weak')) {
      const { s, c, d, e } = this.bend(each), colour = each.role === 'cyclic' ? of.bad : each.confidence === 'possible' ? of.warn : ['INHERITS', 'OVERRIDES'].includes(each.type) ? of.class : of.edge;
      const dash = each.role === 'cyclic' ? null : DASHES[each.confidence] ?? DASHES[each.type];
      const middle = `${(c.x + d.x) / 2} ${(c.y + d.y) / 2}`, tip = Math.atan2(e.y - d.y, e.x - d.x);
      const wing = (turn) => `${e.x - 8 * Math.cos(tip + turn)} ${e.y - 8 * Math.sin(tip + turn)}`;
      svg.append(draw('path', { d: `M ${s.x} ${s.y} Q ${c.x} ${c.y} ${middle} Q ${d.x} ${d.y} ${e.x} ${e.y}`, fill: 'none', stroke: colour, 'stroke-width': each.width ?? 1.5, ...(dash ? { 'stroke-dasharray': dash.join(' ') } : {}) }),
        draw('path', { d: `M ${e.x} ${e.y} L ${wing(0.4)} L ${wing(-0.4)} Z`, fill: colour }));
    }
    for (const box of boxes.filter((each) => each.role !== 'group')) {
      const isCentre = box.role === 'centre', stroke = box.role === 'cyclic' ? of.bad : of[box.kind.toLowerCase()] ?? of.dim;
      const lines = [box.name, box.detail].filter(Boolean).map((text) => cut(spell(text)));
      svg.append(draw('rect', { x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height, rx: 7, fill: isCentre ? of.accent : of.surface, stroke: isCentre ? of.accent : stroke, 'stroke-width': 1.5 }));
      lines.forEach((text, number) => svg.append(draw('text', { x: box.x, y: box.y + 4 + (number - (lines.length - 1) / 2) * LINE, 'text-anchor': 'middle', 'font-weight': 600, fill: isCentre ? of['on-accent'] : of.text }, text)));
    }
    return new XMLSerializer().serializeToString(svg);
  }
}

function save(content, name) {
  const address = URL.createObjectURL(content);
  make('a', { href: address, download: name.replace(/[^\w.-]+/g, '-') }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
