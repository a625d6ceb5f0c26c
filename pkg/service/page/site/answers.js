// Questions to the graph: sent over HTTP if the page is served, else answered from the answers in this file.

import { find } from './words.js';

const written = find('answers') ? JSON.parse(find('answers').textContent) : null;

export const isServed = written === null;
export const start = written ? written.start : null;

export class Unanswered extends Error {}

// The key of a question: its operation and sorted arguments, as page_file.py builds it.
const nameQuestion = (operation, args) => JSON.stringify([operation, Object.fromEntries(Object.entries(args).sort(([a], [b]) => a < b ? -1 : 1))]);

const cached = new Map(); // recent answers, so that going back is immediate
const MOST_CACHED = 200;

export function isAnswered(operation, args) {
  return isServed || nameQuestion(operation, args) in written.answers;
}

// Return the lines of an answer; throws Unanswered with the reason if there is none.
export async function ask(operation, args, signal) {
  const question = nameQuestion(operation, args), view = shown;
  signal?.throwIfAborted();
  if (!isServed) {
    if (question in written.answers) return returnLines(view, written.answers[question], readStale(written.answers[question]));
    throw new Unanswered('This file does not include that part of the graph. Run pkg serve --open to see the whole graph.');
  }
  const { lines, stale } = await (cached.get(question) ?? fetchOnce(question, operation, args, signal));
  signal?.throwIfAborted();
  return returnLines(view, lines, stale);
}

// Share one request among equal questions; after an abort or a failure the next question sends a new one.
function fetchOnce(question, operation, args, signal) {
  const asked = fetchAnswer(operation, args, signal);
  const forget = () => { if (cached.get(question) === asked) cached.delete(question); };
  signal?.addEventListener('abort', forget);
  asked.catch(forget).finally(() => signal?.removeEventListener('abort', forget));
  cached.set(question, asked);
  if (cached.size > MOST_CACHED) cached.delete(cached.keys().next().value);
  return asked;
}

// Prefetch an answer; a failure is reported when the answer is used.
export function prefetch(operation, args) {
  if (isServed) ask(operation, args).catch(() => {});
}

async function fetchAnswer(operation, args, signal) {
  let response;
  try {
    response = await fetch(`v1/${operation}`, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify(args), credentials: 'same-origin', signal });
  } catch (fault) {
    if (fault.name === 'AbortError') throw fault;
    throw new Unanswered('pkg serve does not answer. Start it again, and open its new address.');
  }
  const answer = await response.json();
  if (!response.ok) throw new Unanswered(answer.detail ?? `pkg serve answers ${response.status}`);
  updateGraph(answer.freshness);
  return { lines: answer.lines, stale: answer.freshness.stale ?? [] };
}

// Freshness of the graph and of the answers in the view.
let listener = () => {};
let graph = written?.answers[nameQuestion('status', {})]?.[0] ?? {};
let shown = new Map(); // stale files of the view, by source and path
export const onFreshness = (listen) => { listener = listen; };
export function beginView() {
  shown = new Map();
}
export function reportFreshness() {
  listener({ ...graph, stale: [...shown.values()] });
}

// Return lines to the view that requested them; a late answer does not change the freshness of a later view.
function returnLines(view, lines, stale) {
  for (const each of stale) view.set(`${each.source}\n${each.path}`, each);
  if (view === shown) reportFreshness();
  return lines;
}
const readStale = (lines) => lines.flatMap((line) => line.stale ?? []);

function updateGraph(freshness) {
  const nameGraph = ({ graph: name, generation }) => name ?? generation;
  if (nameGraph(graph) !== undefined && nameGraph(freshness) !== nameGraph(graph)) cached.clear(); // it was rebuilt
  graph = freshness;
}
