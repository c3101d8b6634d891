// Shows terminal output: colours and weights of ANSI escape sequences become classes, other sequences are dropped.

import { h } from './dom.js';

const SEQUENCE = /\x1b\[([0-9;:]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]/g;

// Returns a text without escape sequences.
export function plain(text) {
  return lastWritten(text).replace(SEQUENCE, '');
}

// Returns the nodes of a text with escape sequences.
export function ansi(text) {
  const nodes = [];
  let style = {};
  let at = 0;
  const push = (piece) => {
    if (!piece) return;
    const classes = Object.values(style).filter(Boolean).join(' ');
    nodes.push(classes ? h('span', { class: classes }, piece) : piece);
  };
  const written = lastWritten(text);
  for (const match of written.matchAll(SEQUENCE)) {
    push(written.slice(at, match.index));
    at = match.index + match[0].length;
    if (match[2] === 'm') style = changed(style, match[1]);
  }
  push(written.slice(at));
  return nodes;
}

// A carriage return starts a line again: only the last version of a line stays, as in a terminal.
function lastWritten(text) {
  if (!text.includes('\r')) return text;
  return text.replaceAll('\r\n', '\n').split('\n').map((line) => line.replace(/\r+$/, '').split('\r').pop()).join('\n');
}

function changed(before, codes) {
  let style = { ...before };
  const list = codes === '' ? [0] : codes.split(/[;:]/).map(Number);
  for (let at = 0; at < list.length; at += 1) {
    const code = list[at];
    if (code === 0) style = {};
    else if (code === 1) style.weight = 'a-bold';
    else if (code === 2) style.weight = 'a-dim';
    else if (code === 3) style.slant = 'a-italic';
    else if (code === 4) style.line = 'a-under';
    else if (code === 7) style.swap = 'a-swap';
    else if (code === 22) style.weight = null;
    else if (code === 23) style.slant = null;
    else if (code === 24) style.line = null;
    else if (code === 27) style.swap = null;
    else if (code >= 30 && code <= 37) style.ink = `a-${code - 30}`;
    else if (code >= 90 && code <= 97) style.ink = `a-${code - 90}`;
    else if (code === 39) style.ink = null;
    else if (code >= 40 && code <= 47) style.ground = `b-${code - 40}`;
    else if (code >= 100 && code <= 107) style.ground = `b-${code - 100}`;
    else if (code === 49) style.ground = null;
    else if (code === 38 || code === 48) {
      const isPalette = list[at + 1] === 5;
      const colour = isPalette && list[at + 2] < 16 ? list[at + 2] % 8 : null;
      style[code === 38 ? 'ink' : 'ground'] = colour === null ? null : `${code === 38 ? 'a' : 'b'}-${colour}`;
      at += isPalette ? 2 : 4;
    }
  }
  return style;
}
