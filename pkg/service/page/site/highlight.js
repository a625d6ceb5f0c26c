// Highlight Python: tokens with kinds, line by line. It is not a parser and accepts any text.

const KEYWORDS = new Set(('and as assert async await break case class continue def del elif else except finally for from global if'
  + ' import in is lambda match nonlocal not or pass raise return try while with yield').split(' '));
const VALUES = new Set(['False', 'None', 'True', 'self', 'cls', '__debug__', 'Ellipsis', 'NotImplemented']);
const PIECE = new RegExp([
  /(?<comment>#.*)/,
  /(?<string>\b[rbfuRBFUtT]{0,3}(?:"""|'''|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|"""|'''|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
  /(?<number>\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?\d+)?j?)\b)/,
  /(?<decorator>^[ \t]*@[\w.]+)/,
  /(?<name>[^\W\d]\w*)/,
].map((each) => each.source).join('|'), 'gu');

// Return the tokens of each line as [text, kind]; kind is '' for plain text, 'name' for a name.
export function colourLines(code) {
  const lines = [];
  let quote = ''; // of a string that continues on the next line
  let before = ''; // the keyword before a name
  for (const line of code.split('\n')) {
    const pieces = [];
    let at = 0;
    const put = (text, kind) => { if (text) pieces.push([text, kind]); };
    if (quote) {
      const end = findEnd(line, 0, quote);
      at = end < 0 ? line.length : end;
      put(line.slice(0, at), 'string');
      if (end >= 0) quote = '';
    }
    PIECE.lastIndex = at;
    for (let found; at < line.length && (found = PIECE.exec(line));) {
      put(line.slice(at, found.index), '');
      let [text] = found;
      const [kind] = Object.entries(found.groups).find(([, value]) => value !== undefined);
      if (kind === 'string' && /("""|''')$/.test(text) && /^[a-zA-Z]{0,3}("""|''')$/.test(text)) {
        quote = text.slice(-3);
        const end = findEnd(line, found.index + text.length, quote);
        text = line.slice(found.index, end < 0 ? line.length : end);
        if (end >= 0) quote = '';
      }
      put(text, kind === 'name' ? nameKind(text, before) : kind);
      before = kind === 'name' ? text : '';
      at = found.index + text.length;
      PIECE.lastIndex = at;
    }
    put(line.slice(at), '');
    lines.push(pieces);
  }
  return lines;
}

function findEnd(line, from, quote) {
  for (let at = from; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1;
    else if (line.startsWith(quote, at)) return at + 3;
  }
  return -1;
}

function nameKind(text, before) {
  if (before === 'def' || before === 'class') return 'defined';
  return KEYWORDS.has(text) ? 'keyword' : VALUES.has(text) ? 'value' : 'name';
}
