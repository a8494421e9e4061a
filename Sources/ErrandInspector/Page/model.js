// The rows that the server has sent, their filter and their order.

const FILTERS = [
  ['all', 'All'], ['active', 'In progress'], ['waiting', 'Waiting'], ['done', 'Successful'], ['failed', 'Failed'],
  ['cached', 'Cached'], ['changed', 'By rule'],
];

const model = {
  session: null,
  revision: 0,
  rows: new Map(),
  /** The rows that the filter accepts, in order. */
  visible: [],
  text: '',
  filter: 'all',
  method: '',
  sort: { key: 'id', isDescending: false },
  isPaused: false,
  /** Changes that arrived while the page was paused. */
  pending: 0,
  listeners: [],

  /** Applies the changes of the server. */
  apply(changes) {
    if (this.session !== changes.session) {
      this.session = changes.session;
      this.rows.clear();
    }
    this.revision = changes.revision;
    const now = performance.now();
    for (const row of changes.rows) {
      row.received = now;
      row.text = `${row.method} ${row.url} ${row.endpoint} ${row.status ?? ''} ${row.error ?? ''} ${row.reason ?? ''} `
        .concat(`${row.type ?? ''} tag:${row.tag} #${row.id} ${row.rules.join(' ')}`).toLowerCase();
      this.rows.set(row.id, row);
    }
    if (this.oldest !== changes.first) {
      for (const id of this.rows.keys()) if (id < changes.first) this.rows.delete(id);
      this.oldest = changes.first;
    }
    if (this.isPaused) this.pending += changes.rows.length;
    else if (changes.rows.length || this.visible.length > this.rows.size) this.refresh();
    for (const listener of this.listeners) listener(changes);
  },

  /** Applies filter and order again. */
  refresh() {
    const words = this.text.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = [];
    for (const row of this.rows.values()) {
      if (this.accepts(row) && words.every((it) => it.startsWith('-') && it.length > 1
        ? !row.text.includes(it.slice(1)) : row.text.includes(it))) rows.push(row);
    }
    const { key, isDescending } = this.sort;
    const value = { id: (it) => it.id, status: (it) => it.status ?? (it.state === 'failed' ? 1000 : 0),
      method: (it) => it.method, endpoint: (it) => it.endpoint, url: (it) => it.url, size: (it) => it.size ?? -1,
      duration: (it) => it.duration }[key];
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      const order = x < y ? -1 : x > y ? 1 : a.id - b.id;
      return isDescending ? -order : order;
    });
    this.visible = rows;
    this.pending = 0;
    table.update();
    updateCounts();
  },

  accepts(row) {
    if (this.method && row.method !== this.method) return false;
    switch (this.filter) {
      case 'active': return row.state === 'active' || row.state === 'waiting';
      case 'waiting': return row.state === 'waiting';
      case 'done': return row.state === 'done' && (row.status ?? 200) < 400;
      case 'failed': return row.state === 'failed' || (row.status ?? 0) >= 400;
      case 'cached': return (row.source ?? '').startsWith('cache');
      case 'changed': return row.rules.length > 0 || row.replayOf !== undefined;
      default: return true;
    }
  },

  /** The duration of a row until now. */
  duration(row) {
    return isRunning(row) ? row.duration + performance.now() - row.received : row.duration;
  },

  setPaused(isPaused) {
    this.isPaused = isPaused;
    if (!isPaused) this.refresh();
  },
};

function isRunning(row) { return row.state === 'active' || row.state === 'waiting'; }

/** A class and a text for the status of a row. */
function statusOf(row) {
  if (row.state === 'waiting') return ['waiting', 'waiting'];
  if (row.state === 'active') return ['active', row.status ?? 'active'];
  if (row.state === 'cancelled') return ['cancelled', 'cancelled'];
  if (row.state === 'failed') return ['failed', row.status ?? 'failed'];
  const status = row.status ?? 0;
  return [status >= 400 ? 'failed' : status >= 300 ? 'redirect' : 'done', status];
}

/** Host and path of a URL. */
function splitURL(url) {
  const parts = /^[a-z]+:\/\/([^/?#]*)([^#]*)$/i.exec(url);
  return parts ? [parts[1], parts[2] || '/'] : ['', url];
}
