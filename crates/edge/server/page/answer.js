// Shows what a run asks a person: the questions, the data to decide by, and the events that answer.

import { freshId, post } from './api.js';
import { h, put } from './dom.js';
import { due } from './format.js';
import { form, sendWithKeys } from './form.js';
import { data } from './tree.js';
import { drafted } from './typing.js';
import { t } from './words.js';
import { action, toast } from './widgets.js';

const ERROR = {
  event: 'error', summary: '', irreversible: null,
  data: { type: 'object', required: ['code', 'message'], properties: { code: { type: 'string', default: 'FAILED', minLength: 1 }, message: { type: 'string', minLength: 1 } } },
};
const HOUR_MS = 3_600_000;
// The longest argument that is shown on one line.
const SHORT = 120;
// The most fields of a form that is open from the beginning.
const FIELDS_SHOWN = 3;

// Makes the answer panel of a run. `done` is called after an answer was sent.
export function answer(run, offers, { canAct = true, input = null, done = () => {} } = {}) {
  const events = new Map(offers.events.map((offer) => [offer.event, offer]));
  const asked = new Set(offers.asked.map((question) => question.event));
  const others = offers.events.filter((offer) => !asked.has(offer.event));
  return h('div', { class: 'answer' },
    offers.questions.map(({ state, text }) => h('p', { class: 'question' }, text, ' ', h('span', { class: 'muted mono' }, state))),
    offers.shown.map(({ label, data: value }) => shown(label, value)),
    input && offers.questions.length + offers.shown.length === 0 ? argumentsOf(Object.entries(input)) : null,
    offers.grant ? grant(run, offers.grant, canAct, done) : null,
    offers.asked.map((question) => open(run, question, events.get(question.event), canAct, done)),
    offers.by_hand.map((activity) => byHand(run, activity, canAct, done)),
    canAct ? choices(run, others, {}, done, !offers.grant && asked.size + offers.by_hand.length === 0) : h('p', { class: 'muted' }, t('viewer-only')));
}

function shown(label, value) {
  return h('section', { class: 'shown' }, h('h3', { class: 'label' }, label), data(value));
}

function grant(run, { scopes }, canAct, done) {
  const place = h('div', {});
  const give = (limit) => async () => {
    await post(['runs', run, 'grant'], { scopes, ...limit });
    toast(t('granted', { run }));
    done();
  };
  return h('section', { class: 'grant' }, h('h3', { class: 'label' }, t('grant-title')),
    h('ul', { class: 'plain mono' }, scopes.map((scope) => h('li', {}, scope))),
    canAct ? h('div', { class: 'buttons' },
      action(t('grant-once'), give({ uses: 1 }), { kind: 'primary', place }),
      action(t('grant-hour'), give({ for_ms: HOUR_MS }), { place })) : null, place);
}

// A question of a running attempt. The answer carries the id of the question.
function open(run, question, offer, canAct, done) {
  const hasData = question.shows !== null && (typeof question.shows !== 'object' || Object.keys(question.shows).length > 0);
  return h('section', { class: 'asked' },
    h('p', { class: 'question' }, question.text, ' ', h('span', { class: 'muted mono' }, question.activity), ' ', due(question.until)),
    hasData ? data(question.shows) : null,
    canAct && offer ? choices(run, [offer], { id: question.id }, done, true) : null);
}

// An activity whose result a person reports.
function byHand(run, activity, canAct, done) {
  return h('section', { class: 'by-hand' },
    h('p', { class: 'question' }, activity.question ?? t('by-hand', { activity: activity.activity }), ' ', h('span', { class: 'muted mono' }, activity.state)),
    activity.left ? h('p', { class: 'muted' }, activity.left) : null,
    argumentsOf(Object.entries(activity.with ?? {}).filter(([, value]) => value !== '' && value !== null)),
    canAct ? choices(run, [...activity.signals, ERROR], {}, done, true) : null);
}

// Shows the arguments of an activity: short ones as a list, the others below it.
function argumentsOf(entries) {
  const isShort = ([, value]) => typeof value !== 'object' && String(value).length <= SHORT && !String(value).includes('\n');
  return [h('dl', { class: 'facts' }, entries.filter(isShort).map(([name, value]) => [h('dt', {}, name), h('dd', {}, String(value))])),
    entries.filter((entry) => !isShort(entry)).map(([name, value]) => shown(name, value))];
}

// Makes a button for each event. An event with fields opens its form; an irreversible one needs a second click. The
// first event is prominent if it `isMain` to the run.
function choices(run, offers, fixed, done, isMain) {
  const place = h('div', { class: 'choice' });
  const problem = h('div', {});
  const buttons = offers.map((offer, at) => {
    const fields = form(offer.data, { hidden: Object.keys(fixed) });
    const kind = offer.is_general || offer.event === 'error' ? 'quiet' : at === 0 && isMain ? 'primary' : '';
    const forget = fields.node ? drafted(`${run} ${offer.event}`, fields.node) : () => {};
    const send = sender(run, offer.event, fixed, fields, (sent) => { forget(); done(sent); });
    if (fields.isEmpty) return action(offer.event, send, { sure: offer.irreversible, kind, place: problem, about: about(offer) });
    const button = h('button', { type: 'button', class: kind, 'aria-expanded': 'false', onclick: () => {
      const isOpen = button.getAttribute('aria-expanded') === 'true';
      for (const other of buttons) if (other.hasAttribute('aria-expanded')) other.setAttribute('aria-expanded', 'false');
      button.setAttribute('aria-expanded', String(!isOpen));
      if (isOpen) return put(place);
      const submit = action(t('send-event', { event: offer.event }), send, { sure: offer.irreversible, kind: 'primary', place: problem });
      put(place, sendWithKeys(h('form', { onsubmit: (event) => { event.preventDefault(); submit.click(); } },
        fields.node, h('div', { class: 'buttons' }, submit)), submit));
      place.querySelector('input, textarea, select')?.focus();
    } }, `${offer.event}…`, about(offer));
    return button;
  });
  const only = offers.filter((offer) => !offer.is_general && offer.event !== 'error');
  const box = h('div', { class: 'choices' }, h('div', { class: 'buttons' }, buttons), problem, place);
  // The short form of the only answer is shown at once, without taking the focus.
  if (isMain && only.length === 1 && Object.keys(only[0].data?.properties ?? {}).length <= FIELDS_SHOWN && buttons[offers.indexOf(only[0])].hasAttribute('aria-expanded')) {
    const focused = document.activeElement;
    buttons[offers.indexOf(only[0])].click();
    focused?.focus?.();
  }
  return box;
}

function about({ summary }) {
  return summary ? h('span', { class: 'about-event' }, summary) : null;
}

function sender(run, event, fixed, fields, done) {
  // The same id is used until the server has answered, so that a lost answer does not send the event twice.
  let id = freshId();
  return async () => {
    const content = { ...(fields.read() ?? {}), ...fixed };
    try {
      const sent = await post(['runs', run, 'events'], { event, data: content, id });
      toast(t('sent', { event, run: sent.run ?? run }));
      id = freshId();
      done(sent);
    } catch (error) {
      if (error.status !== 0) id = freshId();
      throw error;
    }
  };
}
