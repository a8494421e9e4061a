// Bodies: folded JSON, images, forms and text.

const MAXIMUM_TEXT = 200000;
const MAXIMUM_ITEMS = 100;

/** The view of a body. `content` has text, encoding, mimeType, size and comment of an HTTP archive. */
function bodyView(content, name) {
  if (!content || (content.text === undefined && content.comment === undefined && !(content.params ?? []).length)) {
    return h('p', { class: 'empty' }, 'No body.');
  }
  const type = (content.mimeType ?? '').split(';')[0].trim().toLowerCase();
  const facts = [type || 'unknown type', content.size === undefined ? '' : bytesText(content.size)].filter(Boolean);
  if (content.text === undefined && !(content.params ?? []).length) {
    return h('div', {}, bodyBar(facts, null, name), h('p', { class: 'empty' }, content.comment ?? 'Not recorded.'));
  }
  const isBase64 = content.encoding === 'base64';
  if (type.startsWith('image/')) {
    const data = isBase64 ? `;base64,${content.text}` : `,${encodeURIComponent(content.text)}`;
    const source = `data:${type}${data}`;
    const image = h('img', { alt: `Image of the ${name}`, src: source, class: 'picture' });
    image.addEventListener('load', () => {
      facts.push(`${image.naturalWidth} × ${image.naturalHeight}`);
      bar.replaceWith(bodyBar(facts, null, name));
    });
    const bar = bodyBar(facts, null, name);
    return h('div', {}, bar, h('div', { class: 'picture-frame' }, image));
  }
  if ((content.params ?? []).length) {
    return h('div', {}, bodyBar(facts, content.text, name), dataTable('Fields', ['Name', 'Value'],
      content.params.map((it) => [it.name, it.fileName ? `file ${it.fileName}` : it.value ?? '']), ''));
  }
  if (isBase64) return h('div', {}, bodyBar(facts, null, name), hexView(content.text));
  if (type.endsWith('json') || /^\s*[[{]/.test(content.text)) {
    try {
      const value = JSON.parse(content.text);
      const tree = h('div', { class: 'json' }, jsonNode(null, value, true));
      return h('div', {}, bodyBar(facts, content.text, name, tree), tree);
    } catch { /* shown as text */ }
  }
  return h('div', {}, bodyBar(facts, content.text, name), textView(content.text));
}

/** The type and size of a body, with its actions. */
function bodyBar(facts, text, name, tree = null) {
  const all = (isOpen) => {
    // Twice, because opening a node creates the nodes in it.
    for (let round = 0; round < (isOpen ? 12 : 1); round += 1) {
      const nodes = [...tree.querySelectorAll('details')].filter((it) => it.open !== isOpen).slice(0, 2000);
      if (!nodes.length) return;
      for (const node of nodes) {
        node.open = isOpen;
        node.fill?.();
      }
    }
  };
  return h('div', { class: 'body-bar' }, h('span', {}, facts.join(' · ')), h('span', { class: 'space' }),
    tree ? h('button', { type: 'button', class: 'link', onclick: () => all(true) }, 'Expand all') : null,
    tree ? h('button', { type: 'button', class: 'link', onclick: () => all(false) }, 'Collapse all') : null,
    text === null ? null : h('button', { type: 'button', class: 'link', onclick: () => copyText(text, name) },
      'Copy'));
}

function textView(text) {
  const area = h('pre', { class: 'code', tabIndex: 0 }, text.slice(0, MAXIMUM_TEXT));
  if (text.length <= MAXIMUM_TEXT) return area;
  const more = h('button', { type: 'button', class: 'more', onclick: () => {
    area.textContent = text;
    more.remove();
  } }, `Show all ${bytesText(text.length)}`);
  return h('div', {}, area, more);
}

/** The first bytes in hexadecimal form. */
function hexView(base64) {
  const bytes = atob(base64.slice(0, 5464));
  const lines = [];
  for (let start = 0; start < Math.min(bytes.length, 4096); start += 16) {
    const part = [...bytes.slice(start, start + 16)].map((it) => it.charCodeAt(0));
    const hex = part.map((it) => it.toString(16).padStart(2, '0')).join(' ').padEnd(47);
    const text = part.map((it) => (it > 31 && it < 127 ? String.fromCharCode(it) : '.')).join('');
    lines.push(`${start.toString(16).padStart(6, '0')}  ${hex}  ${text}`);
  }
  return h('pre', { class: 'code hex', tabIndex: 0 }, lines.join('\n'));
}

/** A value of JSON; objects and arrays can be folded, and are created when they are opened. */
function jsonNode(key, value, isOpen = false) {
  const label = key === null ? [] : [h('span', { class: 'json-key' }, key), h('span', { class: 'json-mark' }, ': ')];
  if (value === null || typeof value !== 'object') {
    const kind = value === null ? 'null' : typeof value;
    const text = kind === 'string' ? JSON.stringify(value) : String(value);
    const shown = value === 'REDACTED' ? 'secret' : kind;
    return h('div', { class: 'json-leaf' }, label, h('span', { class: `json-${shown}` }, text));
  }
  const isArray = Array.isArray(value);
  const entries = Object.entries(value);
  const summary = isArray ? `[ ${entries.length} ]` : `{ ${entries.length} }`;
  if (!entries.length) {
    return h('div', { class: 'json-leaf' }, label, h('span', { class: 'json-mark' }, isArray ? '[ ]' : '{ }'));
  }
  const content = h('div', { class: 'json-content' });
  const node = h('details', {}, h('summary', {}, label, h('span', { class: 'json-mark' }, summary),
    h('span', { class: 'json-preview' }, preview(value, isArray))), content);
  let shown = 0;
  const fill = (count) => {
    content.querySelector(':scope > .more')?.remove();
    for (const [name, item] of entries.slice(shown, count)) {
      content.append(jsonNode(name, item, entries.length <= 2 && typeof item === 'object'));
    }
    shown = Math.max(shown, Math.min(count, entries.length));
    if (shown < entries.length) {
      content.append(h('button', { type: 'button', class: 'more', onclick: () => fill(shown + MAXIMUM_ITEMS) },
        `${entries.length - shown} more`));
    }
  };
  node.fill = () => { if (node.open && !shown) fill(MAXIMUM_ITEMS); };
  node.addEventListener('toggle', node.fill);
  node.open = isOpen;
  node.fill();
  return node;
}

/** The first members of a folded value. */
function preview(value, isArray) {
  const parts = Object.entries(value).slice(0, 4).map(([key, item]) => {
    const isObject = item !== null && typeof item === 'object';
    const text = isObject ? (Array.isArray(item) ? '[…]' : '{…}') : JSON.stringify(item);
    return isArray ? text : `${key}: ${text}`;
  });
  const text = parts.join(', ');
  return text.length > 90 ? `${text.slice(0, 90)}…` : text;
}
