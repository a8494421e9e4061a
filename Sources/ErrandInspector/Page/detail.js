// The panel with all parts of one request.

const DETAIL_TABS = [
  ['overview', 'Overview'], ['headers', 'Headers'], ['request', 'Request'], ['response', 'Response'],
  ['timing', 'Timing'], ['events', 'Events'],
];

const detail = {
  id: null,
  tab: 'overview',
  data: null,
  /** The transfer that is shown; `null` shows the last one. */
  transfer: null,

  build() {
    this.element = h('section', { class: 'detail', 'aria-label': 'Details', hidden: true, onkeydown: (event) => {
      if (event.key !== 'Escape' || event.target.closest('dialog')) return;
      this.close();
      table.element.focus();
    } });
    // A button is not replaced while it is pressed.
    this.element.addEventListener('pointerdown', () => { this.isPressed = true; });
    window.addEventListener('pointerup', () => setTimeout(() => {
      this.isPressed = false;
      if (this.isDeferred) this.update();
    }));
    model.listeners.push((changes) => {
      if (this.id !== null && changes.rows.some((it) => it.id === this.id)) this.load();
    });
    return this.element;
  },

  show(id) {
    if (this.id !== id) {
      this.transfer = null;
      this.data = null;
      this.text = null;
    }
    this.id = id;
    this.element.hidden = false;
    document.body.classList.add('with-detail');
    this.load();
  },

  close() {
    this.id = null;
    this.element.hidden = true;
    document.body.classList.remove('with-detail');
    table.selected = null;
    table.schedule();
  },

  focus() { this.element.querySelector('[role=tab][aria-selected=true]')?.focus(); },

  /** Loads the request; calls during a load are joined. */
  async load() {
    if (this.isLoading) {
      this.isStale = true;
      return;
    }
    this.isLoading = true;
    const id = this.id;
    try {
      const data = await call(`requests/${id}`);
      // The same data is not shown again, because opened parts of a body would be folded.
      const text = JSON.stringify(data);
      if (this.id === id && this.text !== text) {
        this.text = text;
        data.row.received = performance.now();
        this.data = data;
        this.update();
      }
    } catch (error) {
      if (this.id === id) this.element.replaceChildren(h('p', { class: 'empty' }, error.message));
    }
    this.isLoading = false;
    if (this.isStale || (this.id !== id && this.id !== null)) {
      this.isStale = false;
      if (this.id !== null) this.load();
    }
  },

  /** Shows changed data, but not while the user presses a button or has opened a list. */
  update() {
    const focused = document.activeElement;
    this.isDeferred = this.isPressed || (focused?.tagName === 'SELECT' && this.element.contains(focused));
    if (this.isDeferred) focused?.addEventListener('blur', () => this.update(), { once: true });
    else this.render();
  },

  render() {
    // Until the request is loaded, the previous one stays.
    if (!this.data) return;
    const { row } = this.data;
    const focused = document.activeElement?.id;
    const scroll = this.element.querySelector('.detail-content')?.scrollTop ?? 0;
    const tabs = this.data.messageCount === undefined ? DETAIL_TABS : [...DETAIL_TABS, ['messages', 'Messages']];
    if (!tabs.some(([id]) => id === this.tab)) this.tab = 'overview';
    const [kind, text] = statusOf(row);
    // The list of messages changes itself; it keeps its position and the focus.
    const isKept = this.tab === 'messages' && this.shownTab === 'messages' && this.shownID === row.id;
    const content = isKept ? null : h('div', {
      class: 'detail-content', role: 'tabpanel', id: 'detail-content', tabIndex: 0,
      'aria-labelledby': `tab-${this.tab}`,
    }, this.content());
    const parts = [
      h('header', { class: 'detail-head' },
        h('span', { class: `status ${kind}` }, String(text)),
        h('strong', {}, row.endpoint), h('span', { class: 'number-mark' }, `#${row.id}`),
        h('span', { class: 'space' }), this.actions(row),
        iconButton('close', 'Close details (Esc)', () => {
          this.close();
          table.element.focus();
        })),
      h('div', { class: 'detail-url' },
        h('span', { class: 'method', 'data-method': row.method }, row.method), ' ', row.url),
      tabList('Parts of the request', tabs, this.tab, (tab) => {
        this.tab = tab;
        this.shownTab = null;
        this.render();
      })];
    if (isKept) {
      for (const [index, part] of parts.entries()) this.element.children[index].replaceWith(part);
      messages.load();
    } else this.element.replaceChildren(...parts, content);
    // In a narrow window, the tabs can be scrolled.
    this.element.querySelector('[role=tab][aria-selected=true]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    if (!isKept && this.shownTab === this.tab && this.shownID === row.id) content.scrollTop = scroll;
    [this.shownTab, this.shownID] = [this.tab, row.id];
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  },

  actions(row) {
    const button = (label, onclick, title) => h('button', { type: 'button', class: 'button', onclick, title }, label);
    const buttons = [];
    const act = (name) => () => post(`requests/${row.id}/${name}`);
    if (isRunning(row)) {
      if ((row.reason ?? '').startsWith('A rule holds')) {
        buttons.push(button('Continue', act('proceed')), button('Fail', act('fail')));
      }
      const isSuspended = row.reason === 'The task is suspended';
      buttons.push(isSuspended ? button('Resume', act('resume')) : button('Suspend', act('suspend')));
      buttons.push(button('Cancel', act('cancel')));
    }
    if (this.data.transfers.length) {
      // A WebSocket is opened by its endpoint only.
      if (this.data.messageCount === undefined) {
        buttons.push(button('Send again…', () => openReplay(this.data), 'Send the request again, with changes'));
      }
      const copy = h('select', { class: 'button', 'aria-label': 'Copy the request as', onchange: async () => {
        const format = copy.value;
        copy.value = '';
        copy.blur();
        try {
          const text = await call(`requests/${row.id}/copy?as=${format}`, { isText: true });
          copyText(text, { curl: 'curl command', swift: 'Swift class', har: 'HAR' }[format]);
        } catch (error) {
          announce(error.message, true);
        }
      } }, h('option', { value: '', hidden: true }, 'Copy as…'), h('option', { value: 'curl' }, 'curl command'),
      h('option', { value: 'swift' }, 'Swift endpoint class'), h('option', { value: 'har' }, 'HTTP archive (HAR)'));
      buttons.push(copy);
    }
    return h('div', { class: 'actions' }, buttons);
  },

  /** The transfer whose messages are shown. */
  get current() {
    const { transfers } = this.data;
    return transfers[this.transfer ?? transfers.length - 1] ?? null;
  },

  content() {
    switch (this.tab) {
      case 'headers': return [this.chooser(), this.headers()];
      case 'request': return [this.chooser(), this.requestBody()];
      case 'response': return [this.chooser(), this.responseBody()];
      case 'timing': return [timingView(this.data.row)];
      case 'events': return [this.events()];
      case 'messages': return [messages.view(this.data.row.id)];
      default: return this.overview();
    }
  },

  /** Chooses a transfer, if there are several. */
  chooser() {
    const { transfers } = this.data;
    if (transfers.length < 2) return null;
    const select = h('select', { 'aria-label': 'Transfer', onchange: () => {
      this.transfer = Number(select.value);
      this.render();
    } }, transfers.map((it, index) => h('option', { value: index, selected: it === this.current },
      `${index + 1}. ${this.describe(it)}`)));
    return h('p', { class: 'chooser' }, h('label', {}, 'Transfer ', select));
  },

  describe(transfer) {
    const { response } = transfer.entry;
    const result = transfer.isRunning ? 'in progress' : response.status || (transfer.entry._error ?? 'no response');
    return `Attempt ${transfer.attempt}: ${result}, at ${timeText(transfer.start)}`;
  },

  overview() {
    const { row, transfers, error, cache } = this.data;
    const last = transfers.at(-1)?.entry;
    const facts = [
      ['State', row.reason ?? { active: 'In progress', done: 'Ended', failed: 'Failed',
        cancelled: 'Cancelled' }[row.state]],
      ['Started', clockText(row.started)], ['Duration', timeText(model.duration(row))],
      ['Cache', cache], ['Source', row.source], ['Size', row.size === undefined ? null : bytesText(row.size)],
      ['Content type', row.type], ['Protocol', last?.response.httpVersion || null],
        ['Address', last?.serverIPAddress],
      ['Tag', row.tag === 0 ? null : row.tag], ['Priority', { 4: 'high', '-4': 'low' }[this.data.priority]],
      ['Rules', row.rules.join(', ') || null],
      ['Repeats', row.replayOf === undefined ? null : `request #${row.replayOf}`], ['Task', row.task],
    ].filter(([, value]) => value !== null && value !== undefined);
    const list = h('dl', { class: 'facts' }, facts.map(([name, value]) => [h('dt', {}, name),
      h('dd', {}, String(value))]));
    const parts = [];
    if (error) {
      parts.push(h('div', { class: 'problem', role: 'note' }, h('strong', {}, error.code),
        ` (${error.stage}): ${error.message}`));
    }
    parts.push(list);
    if (transfers.length > 1) parts.push(h('h3', {}, 'Attempts and transfers'), this.attempts());
    parts.push(h('h3', {}, 'Phases'), timingView(row));
    return parts;
  },

  attempts() {
    return dataTable('Attempts', ['Attempt', 'URL', 'Start', 'Duration', 'Result'], this.data.transfers.map((it) => [
      String(it.attempt), it.entry.request.url, timeText(it.start), it.isRunning ? '' : timeText(it.entry.time),
      (it.isRunning ? 'in progress' : it.entry.response.status || it.entry._error || 'no response')
        + (it.isSimulated ? ' (by rule)' : ''),
    ]), 'No transfer.');
  },

  headers() {
    const entry = this.current?.entry;
    const response = this.data.response ?? (this.current?.isRunning ? null : entry?.response);
    const view = (title, fields) => [h('h3', {}, title, h('span', { class: 'count' }, fields.length)),
      fields.length ? h('dl', { class: 'headers' }, fields.map((it) => [h('dt', {}, it.name),
        h('dd', { class: it.value.includes('REDACTED') ? 'secret' : '' }, it.value)])) : h('p', { class: 'empty' },
          'None.')];
    return h('div', {}, response ? view('Response headers', response.headers) : null,
      response?._trailers ? view('Trailers', response._trailers) : null,
      entry ? view('Request headers', entry.request.headers)
        : h('p', { class: 'empty' }, 'No request was sent.'),
      entry && entry.request.queryString.length ? view('Query', entry.request.queryString) : null);
  },

  requestBody() {
    const entry = this.current?.entry;
    if (!entry) return h('p', { class: 'empty' }, 'No request was sent.');
    const data = entry.request.postData;
    return bodyView(data ? { ...data, encoding: data._encoding, size: entry.request.bodySize } : null,
      'request body');
  },

  responseBody() {
    if (this.data.response) return bodyView(this.data.response.content, 'response body');
    const transfer = this.current;
    if (!transfer || transfer.isRunning) return h('p', { class: 'empty' }, 'The response has not arrived.');
    if (!transfer.entry.response.status) {
      return h('p', { class: 'empty' }, transfer.entry.comment ?? 'There was no response.');
    }
    return bodyView(transfer.entry.response.content, 'response body');
  },

  events() {
    const { events, omittedEvents, eventsNote } = this.data;
    if (eventsNote) return h('p', { class: 'empty' }, eventsNote);
    return h('div', {}, h('ol', { class: 'events' }, events.map((it) => h('li', { class: it.group },
      h('time', {}, timeText(it.at)), h('span', {}, it.text)))),
    omittedEvents ? h('p', { class: 'empty' }, `${omittedEvents} further events were not kept.`) : null);
  },
};
