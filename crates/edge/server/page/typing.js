// Keeps what a person has typed. A node with unsent text is not rebuilt, and a text whose form has gone (another view, a
// dialog that was closed, a new login) comes back with the form until it is sent.

// The fields that a person types in or chooses with.
export const FIELDS = 'input:not([type=range]), textarea, select, [contenteditable]';
const STORED = 'typed ';

const typed = new WeakSet();
addEventListener('input', ({ target }) => typed.add(target), true);

function fieldsOf(node) {
  return [...node.querySelectorAll(FIELDS)];
}

// Returns true if a person is typing in a node or has left unsent text there.
export function isInUse(node) {
  const active = document.activeElement;
  if (active?.matches(FIELDS) && node.contains(active)) return true;
  return fieldsOf(node).some((field) => typed.has(field) && (field.type === 'checkbox' || field.value !== ''));
}

// Lets a node be rebuilt, because its text was sent or given up.
export function release(node) {
  fieldsOf(node).forEach((field) => typed.delete(field));
  if (node.contains(document.activeElement)) document.activeElement.blur();
}

// Restores the text that was typed under this name into the fields of a node, and keeps what is typed from now on.
// Returns the function that forgets it.
export function drafted(name, node) {
  const key = STORED + name;
  const values = () => fieldsOf(node).map((field) => (field.type === 'checkbox' ? field.checked : field.value));
  const known = read(key);
  const fields = fieldsOf(node);
  // A list that a person has made longer has other fields than a new form.
  if (known?.length === fields.length) {
    fields.forEach((field, at) => {
      if (field.type === 'checkbox') field.checked = known[at];
      else field.value = known[at];
    });
  }
  node.addEventListener('input', () => write(key, values()));
  return () => {
    release(node);
    write(key, null);
  };
}

// The storage of a window can be switched off; then a text lives as long as its form.
function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}

function write(key, values) {
  try {
    if (values) sessionStorage.setItem(key, JSON.stringify(values));
    else sessionStorage.removeItem(key);
  } catch { /* see `read` */ }
}
