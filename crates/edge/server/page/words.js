// The language of the page. Each language has its strings in one file under `text/`.

import en from './text/en.js';
import zh from './text/zh-CN.js';

const LANGUAGES = { en, 'zh-CN': zh };

function chosen() {
  const stored = localStorage.getItem('language');
  if (stored in LANGUAGES) return stored;
  return navigator.languages.some((name) => name.toLowerCase().startsWith('zh')) ? 'zh-CN' : 'en';
}

export const language = chosen();
document.documentElement.lang = language;

// Returns a string of the page with its `{names}` filled in.
export function t(key, values = {}) {
  const text = LANGUAGES[language][key] ?? en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

// Returns a string that may be missing; then the fallback.
export function tOr(key, fallback) {
  return LANGUAGES[language][key] ?? en[key] ?? fallback;
}

// Changes the language; the page is loaded again.
export function switchLanguage() {
  localStorage.setItem('language', language === 'en' ? 'zh-CN' : 'en');
  location.reload();
}
