// Shows one record in full: each move with its reason, guard, counters, judge, sender and evidence.

import { h } from './dom.js';
import { cost, count, size, time } from './format.js';
import { kind } from './timeline.js';
import { tree } from './tree.js';
import { t } from './words.js';

// The longest data that is shown without a click.
const OPEN_MAX = 400;

// Shows a record; `open` shows an evidence file.
export function step(record, open) {
  return h('article', { class: 'step' },
    h('h3', {}, `#${record.seq} · ${kind(record)} `, time(record.at)),
    record.activity ? h('p', { class: 'mono muted' }, `${record.activity.name} · ${record.activity.state}`) : null,
    record.moves.map(showMove),
    record.moves.length === 0 ? h('p', { class: 'muted' }, t('no-move')) : null,
    record.evidence.length ? h('ul', { class: 'plain files' }, record.evidence.map((file) => h('li', {}, fileButton(file, open)))) : null);
}

// Makes the button that opens an evidence file.
export function fileButton(file, open) {
  return h('button', { type: 'button', class: 'link', onclick: () => open(file) }, file.name, ' ', h('span', { class: 'muted' }, `${file.media} · ${size(file.bytes)}`));
}

function fact(name, ...content) {
  return [h('dt', {}, name), h('dd', {}, content)];
}

function showMove(move) {
  const facts = [
    move.reason ? fact(t('reason'), move.reason) : null,
    move.taken ? null : fact(t('result'), h('em', {}, t('not-taken'))),
    move.by ? fact(t('by'), `${move.by.name} (${move.by.kind})`) : null,
    move.activity ? fact(t('activity'), h('span', { class: 'mono' }, move.activity.name), ` · ${t('attempt', { number: move.activity.attempt })}`) : null,
    move.guard ? fact(t('guard'), h('code', {}, move.guard), values(move.values)) : null,
    move.counters?.length ? fact(t('counters'), move.counters.map(({ counter, before, after, max }) => h('div', {}, h('span', { class: 'mono' }, counter), ` ${before} → ${t('n-of-max', { n: after, max })}`))) : null,
    move.judge ? fact(t('judge'), judge(move.judge)) : null,
    move.refused?.length ? fact(t('refused'), move.refused.map(refused)) : null,
    move.faults?.length ? fact(t('faults'), move.faults.map((text) => h('div', {}, text))) : null,
    move.log?.length ? fact(t('log'), move.log.map((text) => h('div', {}, text))) : null,
    move.unproved ? fact(t('unproved'), move.unproved.map((text) => h('div', {}, text))) : null,
    isEmpty(move.data) ? null : fact(t('data'), tree(move.data, JSON.stringify(move.data).length > OPEN_MAX ? 0 : 1)),
  ];
  return h('section', {},
    move.to_state || move.from_state ? h('p', { class: 'move' }, move.from_state ?? t('start-of-run'), ' → ', h('b', {}, move.to_state ?? '–'), ' ', move.event ? h('span', { class: 'event' }, move.event) : null) : null,
    h('dl', {}, facts));
}

function isEmpty(value) {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

function values(map) {
  return Object.entries(map ?? {}).map(([name, value]) => h('div', { class: 'mono value' }, `${name} = ${short(value)}`));
}

function short(value) {
  const text = JSON.stringify(value) ?? '';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function refused({ state, target, why, values: read }) {
  return h('div', {}, h('span', { class: 'mono' }, `${state} → ${target ?? '–'}`), ` ${why}`, values(read));
}

function judge({ name, reason, confidence, tokens, cost: price }) {
  const facts = [
    confidence === undefined ? null : t('confidence', { percent: Math.round(confidence * 100) }),
    tokens?.[0] || tokens?.[1] ? t('tokens', { read: count(tokens[0]), written: count(tokens[1]) }) : null,
    price ? cost(price) : null,
  ].filter(Boolean);
  return [h('b', {}, name), ' ', h('span', { class: 'muted' }, facts.join(' · ')), reason ? h('div', {}, reason) : null];
}
