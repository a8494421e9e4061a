// Generated from Page/views.js by Scripts/inspector-page; do not edit.

extension PageSource {
    static let views = #"""
        // Queue, connections and circuits, and the store.

        const views = {
          timer: null,

          /** Loads a view now and, while it is shown, every second. */
          async show(name) {
            clearTimeout(this.timer);
            const panel = document.getElementById(`panel-${name}`);
            if (panel.hidden) return;
            try {
              if (name === 'store') this.store(panel, await call('store'));
              else this[name](panel, await call('state'));
            } catch (error) {
              panel.replaceChildren(h('p', { class: 'empty' }, error.message));
            }
            if (!panel.hidden) this.timer = setTimeout(() => this.show(name), name === 'store' ? 3000 : 1000);
          },

          /** Replaces the content of a panel, unless the user works with it. */
          fill(panel, ...content) {
            const isUsed = panel.contains(document.activeElement) && document.activeElement !== panel;
            const text = JSON.stringify(content.map((it) => it?.textContent ?? ''));
            if (panel.dataset.text === text || (isUsed && panel.dataset.text)) return;
            panel.dataset.text = text;
            panel.replaceChildren(...content.filter(Boolean));
          },

          queue(panel, state) {
            const open = (id) => h('button', { type: 'button', class: 'link', onclick: () => showRequest(id) }, `#${id}`);
            const rows = state.waiting.map((it, index) => [String(index + 1), open(it.id), it.endpoint,
              h('span', { class: 'reason' }, it.reason), timeText(it.waited),
              { 4: 'high', '-4': 'low' }[it.priority] ?? 'normal', it.isHeld ? h('span', {},
                h('button', { type: 'button', class: 'button', onclick: () => this.act(it.id, 'proceed') }, 'Continue'), ' ',
                h('button', { type: 'button', class: 'button', onclick: () => this.act(it.id, 'fail') }, 'Fail')) : '']);
            this.fill(panel, cards([['In progress', state.inProgress], ['Waiting', state.waiting.length],
              ['Limits', state.limits.join(', ') || 'none']]),
            h('h2', {}, 'Waiting requests'),
            dataTable('Waiting requests', ['', 'Request', 'Endpoint', 'Reason', 'Waiting time', 'Priority', ''], rows,
              'No request waits.'));
          },

          async act(id, name) {
            await post(`requests/${id}/${name}`);
            document.activeElement?.blur();
            this.show('queue');
          },

          connections(panel, state) {
            const columns = (it) => [String(it.id), it.host, it.address || '–',
              `${it.version || 'not known'}${it.isSecure ? ', TLS' : ''}`, String(it.requests),
              it.age === undefined ? 'from before the start' : timeText(it.age)];
            const headings = ['Number', 'Host', 'Address', 'Protocol', 'Recorded requests'];
            const closed = state.closedConnections.map((it) => [...columns(it), `${timeText(it.closed)} ago`, it.reason]);
            const isReported = state.openConnections !== undefined;
            const peers = state.peers.map((it) => [it.host, it.address || '–', it.version || '–', String(it.active),
              String(it.opened), String(it.reused), bytesText(it.received)]);
            const circuits = state.circuits.map((it) => [it.host,
              h('span', { class: `circuit ${it.state.replace(' ', '-')}` },
              it.state), String(it.failures), it.remaining === undefined ? '' : timeText(it.remaining)]);
            const share = state.maximumMemory ? state.bodyBytes / state.maximumMemory : 0;
            this.fill(panel, cards([['Open connections', state.openConnections ?? 'not counted'],
              ['Transport', state.transport],
              ['Recorded', `${state.recorded} of ${state.maximumRequests}`],
              ['Bodies in memory', `${bytesText(state.bodyBytes)} (${Math.round(100 * share)} %)`]]),
            h('h2', {}, 'Open connections'),
            dataTable('Open connections', [...headings, 'Age'], state.connections.map(columns),
              isReported ? 'No connection is open.' : 'The transport does not report its connections.'),
            h('h2', {}, 'Closed connections'),
            dataTable('Closed connections', [...headings, 'Lifetime', 'Closed', 'Reason'], closed,
              'No connection was closed.'),
            h('h2', {}, 'Transfers by address'),
            dataTable('Transfers by address', ['Host', 'Address', 'Protocol', 'Active', 'Opened', 'Reused', 'Received'], peers,
              'No transfer was recorded.'),
            h('h2', {}, 'Circuit breakers'),
            dataTable('Circuit breakers', ['Host', 'State', 'Failures', 'Next probe in'], circuits,
              'Every circuit is closed and has no failures.'));
          },

          store(panel, store) {
            const now = Date.now();
            const rows = store.entries.map((it) => [it.url, bytesText(it.size),
              `${timeText(Math.max(0, now - it.stored))} ago`,
              it.expires === undefined ? '–' : it.expires > now ? `in ${timeText(it.expires - now)}` : 'expired',
              it.tag === 0 ? '' : String(it.tag), it.hasIdentity ? 'of a user' : '',
              h('button', { type: 'button', class: 'button', onclick: async () => {
                if (await post(`store/${it.hash}`)) announce('Entry removed');
                document.activeElement?.blur();
                this.show('store');
              } }, 'Remove')]);
            this.fill(panel, cards([['Entries', store.count], ['Size', bytesText(store.bytes)]]),
              h('h2', {}, 'Stored responses'),
              dataTable('Stored responses', ['URL', 'Size', 'Stored', 'Expires', 'Tag', 'Identity', ''], rows,
                store.hasStore ? 'The store is empty.' : 'The agent has no store.'));
          },
        };

        /** Numbers with a title. */
        function cards(values) {
          return h('div', { class: 'cards' }, values.map(([name, value]) => h('div', { class: 'card' },
            h('span', { class: 'card-name' }, name), h('span', { class: 'card-value' }, String(value)))));
        }

        """#
}
