// Deterministic layout of drawings.

export const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;

// Number the strongly connected components with several nodes (Tarjan).
export function findCycles(ids, edges) {
  const next = new Map(ids.map((id) => [id, []]));
  for (const { start, end } of edges) if (next.has(start) && next.has(end)) next.get(start).push(end);
  const order = new Map(), low = new Map(), open = new Set(), stack = [], groups = [];
  for (const root of ids) {
    if (order.has(root)) continue;
    const calls = [[root, 0]];
    while (calls.length) {
      const call = calls.at(-1), [id] = call;
      if (call[1] === 0) {
        order.set(id, order.size); low.set(id, order.get(id)); open.add(id); stack.push(id);
      }
      const ends = next.get(id);
      if (call[1] < ends.length) {
        const end = ends[call[1]++];
        if (!order.has(end)) calls.push([end, 0]);
        else if (open.has(end)) low.set(id, Math.min(low.get(id), order.get(end)));
        continue;
      }
      calls.pop();
      if (calls.length) low.set(calls.at(-1)[0], Math.min(low.get(calls.at(-1)[0]), low.get(id)));
      if (low.get(id) === order.get(id)) {
        const group = [];
        let member;
        do { member = stack.pop(); open.delete(member); group.push(member); } while (member !== id);
        if (group.length > 1) groups.push(group.sort(compare));
      }
    }
  }
  groups.sort((a, b) => b.length - a.length || compare(a[0], b[0]));
  return new Map(groups.flatMap((group, number) => group.map((id) => [id, number + 1])));
}

// Order nodes so that few edges lead back (Eades, Lin and Smyth 1993), dependents first.
function orderNodes(ids, edges) {
  const into = new Map(ids.map((id) => [id, new Map()])), out = new Map(ids.map((id) => [id, new Map()]));
  for (const { start, end, count = 1 } of edges) {
    if (start === end) continue;
    out.get(start).set(end, (out.get(start).get(end) ?? 0) + count);
    into.get(end).set(start, (into.get(end).get(start) ?? 0) + count);
  }
  const left = new Set([...ids].sort(compare)), first = [], last = [];
  const sum = (links) => [...links].reduce((all, [id, number]) => all + (left.has(id) ? number : 0), 0);
  const take = (id, where) => { left.delete(id); where.push(id); };
  while (left.size) {
    let found;
    while ((found = [...left].find((id) => sum(out.get(id)) === 0)) !== undefined) take(found, last);
    while ((found = [...left].find((id) => sum(into.get(id)) === 0)) !== undefined) take(found, first);
    if (left.size) take([...left].reduce((best, id) => sum(out.get(id)) - sum(into.get(id)) > sum(out.get(best)) - sum(into.get(best)) ? id : best), first);
  }
  return [...first, ...last.reverse()];
}

// Assign nodes to layers: dependencies below their dependents, except for edges that lead back.
export function layer(ids, edges, mostInRow = 7, mostRows = 7) {
  const order = orderNodes(ids, edges), rank = new Map(order.map((id, number) => [id, number]));
  const depth = new Map(order.map((id) => [id, 0]));
  for (const id of order) {
    for (const { start, end } of edges) {
      if (start === id && rank.get(end) > rank.get(id)) depth.set(end, Math.max(depth.get(end), depth.get(id) + 1));
    }
  }
  const rows = [];
  for (const id of order) (rows[depth.get(id)] ??= []).push(id);
  const split = rows.flatMap((row) => {
    const parts = Math.ceil(row.length / mostInRow), size = Math.ceil(row.length / parts);
    return Array.from({ length: parts }, (_, number) => row.slice(number * size, (number + 1) * size));
  });
  return { rows: sortRows(joinRows(split, mostRows), edges), isBack: ({ start, end }) => rank.get(end) < rank.get(start) };
}

// Merge the two adjacent rows with the shortest sum until few rows remain, so that names stay readable.
function joinRows(rows, most) {
  const joined = [...rows];
  while (joined.length > most) {
    let best = 0;
    for (let at = 1; at < joined.length - 1; at += 1) {
      if (joined[at].length + joined[at + 1].length < joined[best].length + joined[best + 1].length) best = at;
    }
    joined.splice(best, 2, [...joined[best], ...joined[best + 1]]);
  }
  return joined;
}

// Order each row by the median position of its nodes' neighbours, in four sweeps down and up.
function sortRows(rows, edges) {
  const place = new Map(), linked = new Map();
  for (const { start, end } of edges) {
    for (const [one, other] of [[start, end], [end, start]]) {
      if (!linked.has(one)) linked.set(one, []);
      linked.get(one).push(other);
    }
  }
  const note = (row) => row.forEach((id, number) => place.set(id, (number + 0.5) / row.length));
  rows.forEach(note);
  for (let round = 0; round < 4; round += 1) {
    for (const row of round % 2 ? [...rows].reverse() : rows) {
      const middle = new Map(row.map((id) => {
        const places = (linked.get(id) ?? []).map((each) => place.get(each));
        return [id, places.length ? places.reduce((a, b) => a + b) / places.length : place.get(id)];
      }));
      row.sort((a, b) => middle.get(a) - middle.get(b) || compare(a, b));
      note(row);
    }
  }
  return rows;
}

// The number of entries in a row, so that the rows fill an area of this ratio of width to height.
export function countColumns(sizes, aspect, gap) {
  if (!sizes.length) return 1;
  const width = sizes.reduce((all, each) => all + each.width + 22, 0) / sizes.length, height = sizes.reduce((all, each) => all + each.height + gap, 0) / sizes.length;
  return Math.max(1, Math.min(sizes.length, Math.round(Math.sqrt(sizes.length * aspect * height / width))));
}

// Fill rows with entries of many sizes, in their order, so that they fill an area of this ratio of width to height.
export function fillRows(ids, sizes, aspect) {
  const areas = ids.map((id) => (sizes.get(id).width + 22) * (sizes.get(id).height + 30));
  const most = Math.max(...ids.map((id) => sizes.get(id).width), Math.sqrt(areas.reduce((all, each) => all + each, 0) * aspect) * 1.15);
  const rows = [];
  let used = Infinity;
  for (const id of ids) {
    const width = sizes.get(id).width + 22;
    if (used + width > most + 22) { rows.push([]); used = 0; }
    rows.at(-1).push(id);
    used += width;
  }
  return rows;
}

// Assign positions to the nodes of rows around their centre, from top to bottom.
// aspect: ratio of width to height that the rows are stretched to; 0 for none.
export function placeRows(rows, sizes, gap, aspect = 0) {
  const places = new Map(), fill = (row) => row.reduce((all, id) => all + sizes.get(id).width, 0);
  const tall = (row) => Math.max(...row.map((id) => sizes.get(id).height));
  const height = rows.reduce((all, row) => all + tall(row), 0) + gap.y * Math.max(0, rows.length - 1);
  const width = Math.max(height * aspect, ...rows.map((row) => fill(row) + gap.x * row.length), 0);
  let top = -height / 2;
  for (const row of rows) {
    const space = aspect ? (width - fill(row)) / row.length : gap.x; // around each node
    let x = -(fill(row) + space * row.length) / 2 + space / 2;
    for (const id of row) {
      places.set(id, { x: x + sizes.get(id).width / 2, y: top + tall(row) / 2 });
      x += sizes.get(id).width + space;
    }
    top += tall(row) + gap.y;
  }
  return { places, width, height };
}

const INNER = 160; // width of most nodes

// Columns that grow: placed nodes do not move, and a new node takes the free place nearest to its origin.
export class Columns {
  constructor() {
    this.gap = { x: innerWidth < 700 ? 215 : 330, y: 54 }; // so that a phone shows two columns
    this.places = new Map();
    this.column = new Map();
    this.taken = new Map();
  }

  // width: of the node, whose inner edge is aligned with those of its column.
  put(id, column, near, width) {
    if (this.places.has(id)) return;
    if (!this.taken.has(column)) this.taken.set(column, new Set());
    const taken = this.taken.get(column), wanted = Math.round(near / this.gap.y);
    let slot = wanted;
    for (let step = 1; taken.has(slot); step += 1) slot = wanted + (step % 2 ? (step + 1) / 2 : -step / 2);
    taken.add(slot);
    this.column.set(id, column);
    const shift = Math.sign(column) * (width - INNER) / 2;
    this.places.set(id, { x: column * this.gap.x + shift, y: slot * this.gap.y });
  }
}
