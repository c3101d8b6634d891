// The login: a token that a person pastes. The link that the server prints logs in by itself.

import { post } from '../api.js';
import { h, put } from '../dom.js';
import { t } from '../words.js';
import { failure } from '../widgets.js';

// Shows the login; `done` is called with a session.
export function login(done) {
  const token = h('input', { type: 'password', id: 'token', name: 'token', autocomplete: 'current-password', required: true });
  const place = h('div', {});
  const send = async (event) => {
    event.preventDefault();
    try {
      await post(['session'], { token: token.value.trim() });
      await done();
    } catch (error) {
      put(place, failure(error));
      token.select();
    }
  };
  document.title = `${t('log-in')} · Interlock`;
  document.body.replaceChildren(h('main', { class: 'login' },
    h('form', { onsubmit: send },
      h('h1', {}, 'Interlock'),
      h('p', { class: 'muted' }, t('login-help')),
      h('label', { for: 'token' }, t('token')), token, place,
      h('button', { class: 'primary' }, t('log-in')))));
  token.focus();
}
