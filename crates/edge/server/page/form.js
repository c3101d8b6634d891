// Makes a form from a JSON Schema. A field of raw JSON appears only where the schema leaves the content free.
//
// Every part is `{node, read}`: `read` returns the value, `undefined` for a field that is left empty, and throws a
// `FieldError` if the text is not valid. The server validates everything again.

import { add, h, put } from './dom.js';
import { t } from './words.js';

const DEPTH_MAX = 8;
const ITEMS_MAX = 200;
// The longest text that is edited on one line.
const LINE_MAX = 120;
const LONG_NAMES = /(^|_)(text|comment|message|requirement|goal|description|reason|prompt|summary|body|notes?|answer|instructions?|patch|diff)$/i;

export class FieldError extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

let fields = 0;

// Makes the parts of a form for an object schema. `hidden` names fields that the caller fills in.
export function form(schema, { value, hidden = [] } = {}) {
  const root = schema ?? {};
  const whole = resolve(root, root);
  const properties = Object.fromEntries(Object.entries(whole.properties ?? {}).filter(([name]) => !hidden.includes(name)));
  if (Object.keys(properties).length > 0) return object({ ...whole, properties }, root, value, 0);
  const isClosed = whole.additionalProperties === undefined || whole.additionalProperties === false;
  if (!whole.oneOf && !whole.anyOf && (whole.properties || isClosed)) return { node: null, read: () => ({}), isEmpty: true };
  return part({ ...whole }, root, '', value, true, 0);
}

function resolve(schema, root, depth = 0) {
  if (typeof schema !== 'object' || schema === null) return {};
  if (!schema.$ref || depth > DEPTH_MAX) return schema;
  const steps = schema.$ref.replace(/^#\/?/, '').split('/').filter(Boolean);
  const found = steps.reduce((place, step) => place?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], root);
  return resolve({ ...found, ...schema, $ref: found?.$ref }, root, depth + 1);
}

function typeOf(schema) {
  const types = [schema.type].flat().filter((type) => type && type !== 'null');
  if (types.length > 1) return 'any';
  return types[0] ?? (schema.properties ? 'object' : schema.items ? 'array' : 'any');
}

// Makes the part of one value.
function part(given, root, name, value, isRequired, depth) {
  const schema = resolve(given, root);
  const start = value ?? schema.default;
  if (schema.const !== undefined) return { node: h('code', {}, JSON.stringify(schema.const)), read: () => schema.const };
  if (schema.enum) return choice(schema, start, isRequired);
  const variants = (schema.oneOf ?? schema.anyOf ?? []).filter((variant) => resolve(variant, root).type !== 'null');
  if (variants.length === 1) return part({ ...schema, ...resolve(variants[0], root), oneOf: undefined, anyOf: undefined }, root, name, value, isRequired, depth);
  if (variants.length > 1) return variant(variants, root, name, start, isRequired, depth);
  if (depth > DEPTH_MAX) return raw(schema, start, isRequired);
  switch (typeOf(schema)) {
    case 'string': return string(schema, name, start, isRequired);
    case 'integer': return number(schema, start, isRequired, '1');
    case 'number': return number(schema, start, isRequired, 'any');
    case 'boolean': return checkbox(schema, start, isRequired);
    case 'array': return list(schema, root, name, start, isRequired, depth);
    case 'object': return schema.properties ? object(schema, root, start, depth, isRequired) : raw(schema, start, isRequired);
    default: return raw(schema, start, isRequired);
  }
}

function object(schema, root, value, depth, isRequired = true) {
  const required = new Set(schema.required ?? []);
  const parts = Object.entries(schema.properties).map(([name, property]) => {
    const isNeeded = required.has(name);
    const inner = part(property, root, name, value?.[name], isNeeded, depth + 1);
    return { name, isNeeded, inner, node: labelled(name, resolve(property, root), inner, isNeeded) };
  });
  const read = () => {
    const result = {};
    for (const { name, inner, node } of parts) {
      const given = reading(name, inner, node);
      if (given !== undefined) result[name] = given;
    }
    return !isRequired && Object.keys(result).length === 0 ? undefined : result;
  };
  return { node: h('div', { class: 'fields' }, parts.map(({ node }) => node)), read, isGroup: true };
}

// Reads a part and shows its error beside it.
function reading(name, inner, node) {
  const place = node.querySelector(':scope > .field-error');
  place?.replaceChildren();
  try {
    return inner.read();
  } catch (error) {
    if (place && error.field === undefined) put(place, error.message);
    throw error.field === undefined ? new FieldError(name, error.message) : error;
  }
}

function labelled(name, schema, inner, isNeeded) {
  const about = schema.description ? h('p', { class: 'about' }, schema.description) : null;
  const mark = isNeeded ? h('span', { class: 'needed', title: t('required'), 'aria-hidden': 'true' }, ' *') : h('span', { class: 'optional' }, ' ', t('optional'));
  const title = [schema.title ?? name, mark];
  const error = h('div', { class: 'field-error', role: 'alert' });
  if (inner.isGroup) return h('fieldset', { class: 'field' }, h('legend', {}, title), about, inner.node, error);
  const id = `f${++fields}`;
  const control = inner.control ?? inner.node;
  control.id = id;
  if (about) {
    about.id = `${id}-about`;
    control.setAttribute('aria-describedby', about.id);
  }
  if (inner.isInline) return h('div', { class: 'field inline' }, inner.node, h('label', { for: id }, schema.title ?? name), about, error);
  return h('div', { class: 'field' }, h('label', { for: id }, title), about, inner.node, error);
}

function valid(control) {
  if (control.checkValidity()) return;
  control.focus();
  throw new Error(control.validationMessage);
}

function string(schema, name, value, isRequired) {
  const isLong = schema.format === 'textarea' || (schema.maxLength ?? 0) > LINE_MAX || String(value ?? '').length > LINE_MAX || String(value ?? '').includes('\n')
    || (LONG_NAMES.test(name) && !(schema.maxLength <= LINE_MAX) && !schema.pattern);
  const limits = { required: isRequired, minlength: schema.minLength, maxlength: schema.maxLength };
  const control = isLong ? h('textarea', { rows: '3', ...limits }) : h('input', { type: 'text', pattern: schema.pattern, autocomplete: 'off', spellcheck: 'false', ...limits });
  control.value = value ?? '';
  const read = () => {
    if (control.value === '' && !isRequired) return undefined;
    valid(control);
    return control.value;
  };
  return { node: control, read };
}

function number(schema, value, isRequired, step) {
  const limits = { min: schema.minimum, max: schema.maximum, step: schema.multipleOf ?? step };
  const control = h('input', { type: 'number', required: isRequired, ...limits });
  control.value = value ?? '';
  const read = () => {
    valid(control);
    return control.value === '' ? undefined : Number(control.value);
  };
  return { node: control, read };
}

function checkbox(schema, value, isRequired) {
  const control = h('input', { type: 'checkbox' });
  control.checked = value === true;
  const read = () => (control.checked || isRequired || schema.default !== undefined ? control.checked : undefined);
  return { node: control, read, isInline: true };
}

function choice(schema, value, isRequired) {
  const names = schema.enum.map((option) => (typeof option === 'string' ? option : JSON.stringify(option)));
  const needsEmpty = !isRequired || value === undefined;
  const control = h('select', { required: isRequired },
    needsEmpty ? h('option', { value: '' }, isRequired ? t('choose') : '–') : null,
    names.map((name, at) => h('option', { value: String(at), selected: schema.enum[at] === value }, name)));
  const read = () => {
    valid(control);
    return control.value === '' ? undefined : schema.enum[Number(control.value)];
  };
  return { node: control, read };
}

function variant(variants, root, name, value, isRequired, depth) {
  const label = (schema, at) => schema.title ?? schema.description ?? schema.const ?? typeOf(schema) ?? String(at + 1);
  const place = h('div', {});
  let current = null;
  const control = h('select', { 'aria-label': t('kind') }, variants.map((schema, at) => h('option', { value: String(at) }, label(resolve(schema, root), at))));
  const select = () => {
    current = part(variants[Number(control.value)], root, name, value, isRequired, depth + 1);
    put(place, current.node);
  };
  control.addEventListener('change', select);
  select();
  return { node: h('div', { class: 'variant' }, control, place), control, read: () => current.read(), isGroup: true };
}

function list(schema, root, name, value, isRequired, depth) {
  const rows = h('ol', { class: 'items' });
  const parts = [];
  const append = (item) => {
    if (parts.length >= ITEMS_MAX) return;
    const inner = part(schema.items ?? {}, root, name, item, true, depth + 1);
    (inner.control ?? inner.node).setAttribute('aria-label', `${name} ${parts.length + 1}`);
    const row = h('li', {}, inner.node, h('button', { type: 'button', class: 'quiet', 'aria-label': t('remove'), onclick: () => { parts.splice(parts.indexOf(entry), 1); row.remove(); } }, '✕'));
    const entry = { inner };
    parts.push(entry);
    rows.append(row);
    return inner;
  };
  const given = Array.isArray(value) ? value : [];
  given.forEach(append);
  for (let missing = given.length; missing < Math.min(schema.minItems ?? 0, ITEMS_MAX); missing += 1) append();
  const more = h('button', { type: 'button', class: 'small', onclick: () => { const inner = append(); (inner?.control ?? inner?.node)?.focus?.(); } }, t('add'));
  const read = () => {
    const values = parts.map(({ inner }) => inner.read()).filter((item) => item !== undefined && item !== '');
    return values.length === 0 && !isRequired ? undefined : values;
  };
  return { node: h('div', {}, rows, more), read, isGroup: true };
}

function raw(schema, value, isRequired) {
  const isText = [schema.type].flat().includes('string') || schema.type === undefined;
  const control = h('textarea', { class: 'code', rows: '3', spellcheck: 'false', placeholder: 'JSON' });
  control.value = value === undefined ? '' : JSON.stringify(value, null, 2);
  const read = () => {
    const text = control.value.trim();
    if (text === '') {
      if (isRequired) throw new Error(t('required'));
      return undefined;
    }
    try {
      return JSON.parse(text);
    } catch (error) {
      // A free value that is not JSON is text, as on the command line.
      if (isText && !/^[[{"]/.test(text)) return text;
      throw new Error(t('not-json', { why: error.message }));
    }
  };
  return { node: control, read };
}

// Sends a form with Ctrl+Enter.
export function sendWithKeys(node, button) {
  node.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) button.click();
  });
  return add(node);
}
