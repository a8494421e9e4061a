// The table of requests. Only the rows in view exist as elements.

const ROW_HEIGHT = 28;
const COLUMNS = [
  ['status', 'Status'], ['method', 'Method'], ['endpoint', 'Endpoint'], ['url', 'URL'], ['size', 'Size'],
  ['duration', 'Time'], ['id', 'Waterfall'],
];

const table = {
  selected: null,
  followsEnd: true,
  /** The elements of rows, by position in the window. */
  pool: [],

  build() {
    this.head = h('div', { role: 'row', class: 'row head', 'aria-rowindex': 1 },
      COLUMNS.map(([key, label]) => h('div', { role: 'columnheader', class: `cell ${key}`, 'data-key': key },
        h('button', { type: 'button', onclick: () => this.sortBy(key) }, label, h('span', { class: 'arrow' })),
        key === 'id' ? h('span', { class: 'scale', id: 'scale' }) : null)));
    this.canvas = h('div', { class: 'canvas', role: 'rowgroup' });
    this.body = h('div', { class: 'table-body', tabIndex: -1 }, this.canvas);
    this.empty = h('div', { class: 'placeholder' });
    this.element = h('div', {
      role: 'grid', class: 'table', id: 'requests', 'aria-label': 'Requests', tabIndex: 0,
      'aria-colcount': COLUMNS.length, onkeydown: (event) => this.key(event),
    }, h('div', { role: 'rowgroup' }, this.head), this.body, this.empty);
    this.body.addEventListener('scroll', () => {
      const { scrollTop, scrollHeight, clientHeight } = this.body;
      this.followsEnd = scrollTop + clientHeight >= scrollHeight - ROW_HEIGHT;
      this.schedule();
    });
    new ResizeObserver(() => this.schedule()).observe(this.body);
    // Durations of requests in progress.
    setInterval(() => { if (this.hasRunning) this.schedule(); }, 200);
    return this.element;
  },

  sortBy(key) {
    const sort = model.sort;
    model.sort = { key, isDescending: sort.key === key ? !sort.isDescending : key === 'duration' || key === 'size' };
    this.followsEnd = false;
    this.body.scrollTop = 0;
    model.refresh();
  },

  /** Adapts to changed rows. */
  update() {
    const count = model.visible.length;
    this.element.setAttribute('aria-rowcount', count + 1);
    this.canvas.style.height = `${count * ROW_HEIGHT}px`;
    for (const cell of this.head.children) {
      const isSorted = cell.dataset.key === model.sort.key;
      cell.setAttribute('aria-sort', isSorted ? (model.sort.isDescending ? 'descending' : 'ascending') : 'none');
    }
    this.span = this.commonSpan();
    const scale = document.getElementById('scale');
    if (scale) scale.textContent = count ? `0 – ${timeText(this.span)}` : '';
    if (this.followsEnd && model.sort.key === 'id' && !model.sort.isDescending) {
      this.body.scrollTop = count * ROW_HEIGHT;
    }
    this.empty.textContent = count ? '' : model.rows.size ? 'No request matches the filter.'
      : 'No requests yet. Requests that the agent starts from now on appear here.';
    this.empty.hidden = count > 0;
    this.schedule();
  },

  /** The time that fills the waterfall: longer requests, one in fifty, are cut off. */
  commonSpan() {
    const ended = model.visible.filter((it) => !isRunning(it));
    const rows = ended.length ? ended : model.visible;
    if (!rows.length) return 1;
    const step = Math.max(1, Math.floor(rows.length / 1000));
    const times = [];
    for (let index = 0; index < rows.length; index += step) times.push(model.duration(rows[index]));
    times.sort((a, b) => a - b);
    return Math.max(1, times[Math.ceil(times.length * 0.98) - 1] * 1.05);
  },

  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      this.render();
    });
  },

  /** Updates the elements of the rows in view. */
  render() {
    const rows = model.visible;
    const height = this.body.clientHeight;
    // The head has no scroll bar.
    this.head.style.marginRight = `${this.body.offsetWidth - this.body.clientWidth}px`;
    const first = Math.max(0, Math.floor(this.body.scrollTop / ROW_HEIGHT) - 4);
    const last = Math.min(rows.length, Math.ceil((this.body.scrollTop + height) / ROW_HEIGHT) + 4);
    const count = Math.max(0, last - first);
    while (this.pool.length < count) this.pool.push(this.makeRow());
    this.hasRunning = false;
    for (let index = 0; index < count; index += 1) this.fill(this.pool[index], rows[first + index], first + index);
    const elements = this.pool.slice(0, count).map((it) => it.element);
    if (this.canvas.childElementCount !== count || this.canvas.firstElementChild !== elements[0]) {
      this.canvas.replaceChildren(...elements);
    }
    const shown = rows.slice(first, last).some((it) => it.id === this.selected);
    if (shown) this.element.setAttribute('aria-activedescendant', `row-${this.selected}`);
    else this.element.removeAttribute('aria-activedescendant');
  },

  makeRow() {
    const cells = Object.fromEntries(COLUMNS.map(([key]) => [key, h('div',
      { role: 'gridcell', class: `cell ${key}` })]));
    const element = h('div', { role: 'row', class: 'row' }, COLUMNS.map(([key]) => cells[key]));
    const row = { element, cells };
    element.addEventListener('mousedown', () => { if (row.id !== undefined) this.select(row.id); });
    return row;
  },

  fill(target, row, index) {
    const { element, cells } = target;
    element.style.transform = `translateY(${index * ROW_HEIGHT}px)`;
    const isSelected = row.id === this.selected;
    const isChanged = target.row !== row;
    if (isChanged || target.isSelected !== isSelected || target.index !== index) {
      element.id = `row-${row.id}`;
      element.setAttribute('aria-rowindex', index + 2);
      element.setAttribute('aria-selected', String(isSelected));
      element.className = `row ${row.state}${isSelected ? ' selected' : ''}${index % 2 ? ' odd' : ''}`;
    }
    if (isChanged) {
      const [kind, text] = statusOf(row);
      cells.status.replaceChildren(h('span', { class: `status ${kind}` }, String(text)));
      cells.method.textContent = row.method;
      cells.method.dataset.method = row.method;
      cells.endpoint.textContent = row.endpoint;
      cells.endpoint.title = `${row.endpoint}, tag ${row.tag}, started ${clockText(row.started)}`;
      const [host, path] = splitURL(row.url);
      cells.url.replaceChildren(h('span', { class: 'address' }, h('span', { class: 'host' }, host), path),
        ...this.marks(row));
      cells.url.title = row.reason ? `${row.url}\n${row.reason}` : row.url;
      cells.size.textContent = row.size === undefined ? '' : bytesText(row.size);
    }
    const isLive = isRunning(row);
    if (isLive) this.hasRunning = true;
    if (isChanged || isLive || target.span !== this.span) {
      cells.duration.textContent = timeText(model.duration(row));
      drawBar(cells.id, row, this.span);
      cells.id.title = barText(row);
    }
    Object.assign(target, { row, id: row.id, index, isSelected, span: this.span });
  },

  marks(row) {
    const marks = [];
    if (row.reason) marks.push(h('span', { class: 'mark wait' }, row.reason));
    if ((row.source ?? '').startsWith('cache')) {
      marks.push(h('span', { class: 'mark cache' }, row.source === 'cacheStale' ? 'cache, stale' : 'cache'));
    }
    if (row.attempts > 1) marks.push(h('span', { class: 'mark retry' }, `attempt ${row.attempts}`));
    if (row.error) marks.push(h('span', { class: 'mark error' }, row.error));
    if (row.rules.length) marks.push(h('span', { class: 'mark rule', title: row.rules.join('\n') }, 'rule'));
    if (row.replayOf !== undefined) marks.push(h('span', { class: 'mark' }, `repeats #${row.replayOf}`));
    return marks;
  },

  select(id) {
    this.selected = id;
    this.schedule();
    detail.show(id);
  },

  /** Selects the row at a position and scrolls to it. */
  move(index) {
    const row = model.visible[Math.max(0, Math.min(model.visible.length - 1, index))];
    if (!row) return;
    const top = model.visible.indexOf(row) * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.body;
    if (top < scrollTop) this.body.scrollTop = top;
    if (top + ROW_HEIGHT > scrollTop + clientHeight) this.body.scrollTop = top + ROW_HEIGHT - clientHeight;
    this.select(row.id);
  },

  key(event) {
    if (event.target.closest('.head') && event.key !== 'ArrowDown') return;
    const page = Math.max(1, Math.floor(this.body.clientHeight / ROW_HEIGHT) - 1);
    const current = model.visible.findIndex((it) => it.id === this.selected);
    const next = { ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + page, PageUp: current - page,
      Home: 0, End: model.visible.length - 1 }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      this.move(current < 0 && event.key === 'ArrowUp' ? model.visible.length - 1 : next);
    } else if (event.key === 'Enter') {
      detail.focus();
    } else if (event.key === 'Escape') {
      detail.close();
    }
  },
};
