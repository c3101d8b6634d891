// Light and dark: the system decides until a person does.

import { h } from './dom.js';
import { t } from './words.js';

const stored = localStorage.getItem('theme');
if (stored === 'light' || stored === 'dark') document.documentElement.dataset.theme = stored;

function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

// Makes the button that changes between light and dark.
export function themeButton() {
  const toggle = () => {
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    localStorage.setItem('theme', theme);
  };
  return h('button', { type: 'button', class: 'quiet', title: t('theme'), 'aria-label': t('theme'), onclick: toggle }, '◐');
}
