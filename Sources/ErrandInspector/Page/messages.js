// The messages of a WebSocket, which are added while the connection is open.

const MESSAGE_KINDS = [['all', 'All'], ['sent', 'Sent'], ['received', 'Received']];

const messages = {
  id: null,

  /** The view of a request; the same element until another request is shown. */
  view(id) {
    if (this.id !== id) {
      [this.id, this.next, this.text, this.kind, this.rows] = [id, 0, '', 'all', []];
      this.build();
    }
    this.load();
    return this.element;
  },

  build() {
    const search = h('input', { type: 'search', id: 'message-search', placeholder: 'Search',
      'aria-label': 'Search in messages', spellcheck: false, oninput: () => {
        this.text = search.value.toLowerCase();
        this.filter();
      }, onkeydown: (event) => {
        if (event.key !== 'Escape' || !search.value) return;
        event.stopPropagation();
        search.value = this.text = '';
        this.filter();
      } });
    const chips = MESSAGE_KINDS.map(([kind, label]) => h('button', { type: 'button', class: 'chip',
      'data-kind': kind, 'aria-pressed': String(kind === this.kind), onclick: () => {
        this.kind = kind;
        for (const chip of chips) chip.setAttribute('aria-pressed', String(chip.dataset.kind === kind));
        this.filter();
      } }, label));
    this.facts = h('p', { class: 'message-facts' });
    this.note = h('p', { class: 'hint', role: 'note', hidden: true });
    this.list = h('ol', { class: 'messages', 'aria-label': 'Messages' });
    this.empty = h('p', { class: 'empty' }, 'No message yet.');
    this.element = h('div', { class: 'message-view' }, this.facts,
      h('div', { class: 'message-bar' }, h('div', { class: 'search' }, icon(ICONS.search), search),
        h('div', { class: 'chips', role: 'group', 'aria-label': 'Direction' }, chips)),
      this.note, this.list, this.empty);
  },

  /** Loads the messages after the last one; calls during a load are joined. */
  async load() {
    if (this.isLoading) {
      this.isStale = true;
      return;
    }
    this.isLoading = true;
    const id = this.id;
    try {
      const reply = await call(`requests/${id}/messages?since=${this.next}`);
      if (this.id === id) this.add(reply);
      if (reply.more) this.isStale = true;
    } catch (error) {
      if (this.id === id) this.empty.textContent = error.message;
    }
    this.isLoading = false;
    if (this.isStale || this.id !== id) {
      this.isStale = false;
      this.load();
    }
  },

  add(reply) {
    const panel = this.element.closest('.detail-content');
    const isAtEnd = panel && panel.scrollTop + panel.clientHeight >= panel.scrollHeight - 24;
    this.next = reply.next;
    while (this.rows.length && this.rows[0].number < reply.first) this.rows.shift().element.remove();
    for (const it of reply.messages) {
      const row = { number: it.number, isSent: it.isSent, element: this.row(it), text: it.isText
        ? (it.data ?? '').toLowerCase() : hexText(it.data ?? '') };
      this.rows.push(row);
      this.list.append(row.element);
      row.element.hidden = !this.accepts(row);
    }
    this.describe(reply);
    if (isAtEnd && reply.messages.length) panel.scrollTop = panel.scrollHeight;
  },

  /** The state of the connection, the sums, and what is missing. */
  describe(reply) {
    const total = (mark, label, it) => h('span', {}, mark,
      ` ${label} ${it.count.toLocaleString()}, ${bytesText(it.bytes)}`);
    const state = reply.closeCode === undefined ? 'Open'
      : `Closed with ${reply.closeCode}${reply.closeReason ? ` “${reply.closeReason}”` : ''}`
        + (reply.isClean ? '' : ', without close frames of both sides');
    this.facts.replaceChildren(...[h('span', { class: 'message-state' }, state),
      total(mark(true), 'sent', reply.sent), total(mark(false), 'received', reply.received),
      reply.roundTrip === undefined ? null : h('span', {}, `round trip ${timeText(reply.roundTrip)}`),
      reply.subprotocol ? h('span', {}, `subprotocol ${reply.subprotocol}`) : null,
      reply.extensions ? h('span', {}, reply.extensions) : null].filter(Boolean));
    this.note.hidden = !reply.first;
    this.note.textContent = `The first ${reply.first.toLocaleString()} messages were removed: the latest `
      + `${reply.limit.toLocaleString()} messages of a connection are kept, in bounded memory.`;
    this.empty.hidden = this.rows.length > 0;
  },

  accepts(row) {
    if (this.kind !== 'all' && row.isSent !== (this.kind === 'sent')) return false;
    return row.text.includes(this.text);
  },

  filter() {
    for (const row of this.rows) row.element.hidden = !this.accepts(row);
  },

  /** A message; its content is created when it is opened. */
  row(it) {
    const content = h('div', { class: 'message-content' });
    const preview = it.data === undefined ? it.comment : it.isText ? it.data.slice(0, 200) : hexText(it.data, 32);
    const button = h('button', { type: 'button', class: 'message', 'aria-expanded': 'false', onclick: () => {
      const isOpen = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!isOpen));
      content.replaceChildren(...(isOpen ? [] : [this.content(it)]));
    } }, mark(it.isSent), h('span', { class: it.data === undefined ? 'preview empty' : 'preview' },
      it.count > 1 ? `${it.count} messages: ` : '', preview || '(empty)'),
    h('span', { class: 'message-size' }, bytesText(it.size)), h('time', {}, clockText(it.time)));
    return h('li', { class: it.isSent ? 'sent' : 'received', 'data-number': it.number }, button, content);
  },

  content(it) {
    const type = it.isText ? 'text' : 'binary';
    const wire = `${bytesText(it.onWire)} in frames`;
    const view = bodyView({ mimeType: type, size: it.size, text: it.data, comment: it.comment,
      encoding: it.isText ? undefined : 'base64' }, 'message');
    view.querySelector('.body-bar span')?.append(` · ${wire}`);
    return view;
  },
};

/** The direction of a message, as an arrow with a name. */
function mark(isSent) {
  return h('span', { class: `arrow-mark ${isSent ? 'sent' : 'received'}`, role: 'img',
    'aria-label': isSent ? 'Sent' : 'Received', title: isSent ? 'Sent' : 'Received' }, isSent ? '↑' : '↓');
}

/** The first bytes of a text in base64, in hexadecimal form. */
function hexText(base64, limit = 4096) {
  const bytes = atob(base64.slice(0, Math.ceil(limit / 3) * 4));
  const hex = [...bytes].slice(0, limit).map((it) => it.charCodeAt(0).toString(16).padStart(2, '0')).join(' ');
  return base64.length * 3 / 4 > limit + 2 ? `${hex} …` : hex;
}
