// Generated from Page/rules.js by Scripts/inspector-page; do not edit.

extension PageSource {
    static let rules = #"""
        // Rules that delay, hold, replace or fail transfers.

        const ACTIONS = [
          ['throttle', 'Throttle', 'Delays transfers, and limits their speed'],
          ['pause', 'Pause', 'Holds transfers until you continue them'],
          ['mock', 'Mock', 'Makes a response without the network'],
          ['fault', 'Fault', 'Makes an error, without the network or in the body'],
        ];
        const FAULTS = [
          ['connectionLost', 'Connection lost'], ['timedOut', 'Timed out'], ['cannotFindHost', 'Host not found'],
          ['cannotConnect', 'Connection refused'], ['secureConnectionFailed', 'TLS handshake failed'],
          ['truncatedBody', 'Body cut off'],
        ];

        const rules = {
          list: [],
          uses: {},
          revision: -1,

          async load() {
            try {
              this.accept(await call('rules'));
            } catch (error) {
              announce(error.message, true);
            }
          },

          accept(state) {
            // Responses to several calls can arrive in another order than the lists were made.
            if (state.revision < this.revision) return;
            const isChanged = state.revision > this.revision;
            this.revision = state.revision;
            this.list = state.rules;
            this.uses = state.uses ?? {};
            if (isChanged) afterPress(() => this.render());
            updateCounts();
          },

          /** Sends a changed list; returns whether the server accepts it. */
          async save(list) {
            const state = await post('rules', { rules: list });
            if (state) this.accept(state);
            return state !== null;
          },

          render() {
            const panel = document.getElementById('panel-rules');
            const rows = this.list.map((rule) => {
              const toggle = h('input', { type: 'checkbox', checked: rule.isEnabled,
                'aria-label': `Rule for ${rule.pattern} applies`,
                onchange: () => this.save(this.list.map((it) => (it.id === rule.id ? { ...it, isEnabled: toggle.checked }
                  : it))) });
              return [toggle, h('span', { class: `mark action ${rule.action}` }, rule.action), h('code', {}, rule.pattern),
                rule.method || 'any', this.summary(rule),
                `${this.uses[rule.id] ?? 0}${rule.limit ? ` of ${rule.limit}` : ''}`,
                h('span', { class: 'buttons' },
                  h('button', { type: 'button', class: 'button', onclick: () => this.edit(rule) }, 'Change…'),
                  h('button', { type: 'button', class: 'button',
                    onclick: () => this.save(this.list.filter((it) => it.id !== rule.id)) }, 'Remove'))];
            });
            const add = ACTIONS.map(([action, label, hint]) => h('button', { type: 'button', class: 'button', title: hint,
              onclick: () => this.edit({ id: crypto.randomUUID(), isEnabled: true, pattern: '', action }) },
            icon(ICONS.plus), label));
            panel.replaceChildren(h('div', { class: 'panel-head' }, h('h2', {}, 'Rules'), h('span', { class: 'space' }), add),
              dataTable('Rules', ['On', 'Action', 'URL', 'Method', 'Effect', 'Applied', ''], rows,
                'No rule. A rule delays, holds, replaces or fails the transfers whose URL matches its pattern.'),
              h('p', { class: 'hint' },
                'Rules apply to each transfer, in this order: delays add up, and the first mock or fault ',
                'counts. The lowest speed counts, for each request and direction. Validation, retries, circuit breakers, ',
                'streams, downloads and the cache treat the result as that of a server.'));
          },

          summary(rule) {
            switch (rule.action) {
              case 'throttle': return [rule.latency ? `${rule.latency} ms` : null,
                rule.bytesPerSecond ? `${bytesText(rule.bytesPerSecond)}/s` : null].filter(Boolean).join(', ') || 'no delay';
              case 'mock': return `status ${rule.status ?? 200}, ${bytesText(new Blob([rule.body ?? '']).size)}`;
              case 'fault': return Object.fromEntries(FAULTS)[rule.fault ?? 'connectionLost']
                + (rule.afterBytes ? ` after ${bytesText(rule.afterBytes)}` : '');
              default: return 'until you continue';
            }
          },

          /** Opens the form of a rule. */
          edit(rule) {
            const isNew = !this.list.some((it) => it.id === rule.id);
            const input = (name, properties = {}) => h('input', { name, type: 'text', spellcheck: false,
              value: rule[name] ?? '',
              ...properties });
            const number = (name, properties) => input(name, { type: 'number', min: 1, ...properties });
            const fields = { pattern: input('pattern', { required: true, placeholder: '/issues, or https://*/images/*' }),
              method: input('method', { placeholder: 'any' }), limit: number('limit', { placeholder: 'all' }) };
            const rest = {
              throttle: () => {
                fields.latency = number('latency', { min: 0, max: 600000, placeholder: '0' });
                fields.bytesPerSecond = number('bytesPerSecond', { placeholder: 'not limited' });
                return h('div', { class: 'line' }, h('label', {}, 'Delay in milliseconds', fields.latency),
                  h('label', {}, 'Bytes per second, in each direction', fields.bytesPerSecond));
              },
              mock: () => {
                fields.status = number('status', { min: 200, max: 599, value: rule.status ?? 200 });
                fields.headers = h('textarea', { class: 'code', rows: 3, spellcheck: false, placeholder: 'Name: value',
                  value: (rule.headers ?? []).map((it) => `${it.name}: ${it.value}`).join('\n') });
                fields.body = h('textarea', { class: 'code', rows: 8, spellcheck: false, value: rule.body ?? '' });
                return [h('label', {}, 'Status', fields.status), h('label', {}, 'Headers', fields.headers),
                  h('label', {}, 'Body', fields.body)];
              },
              fault: () => {
                fields.fault = h('select', {}, FAULTS.map(([id, label]) => h('option',
                  { value: id, selected: id === rule.fault }, label)));
                fields.afterBytes = number('afterBytes', { placeholder: 'without the network' });
                return h('div', { class: 'line' }, h('label', {}, 'Error', fields.fault),
                  h('label', {}, 'After bytes of the response body', fields.afterBytes));
              },
              pause: () => null,
            }[rule.action]();
            const form = h('form', { class: 'form', id: 'rule-form', onsubmit: async (event) => {
              event.preventDefault();
              const changed = { id: rule.id, isEnabled: rule.isEnabled, action: rule.action };
              for (const [name, field] of Object.entries(fields)) {
                const text = name === 'body' ? field.value : field.value.trim();
                if (text === '') continue;
                if (name === 'headers') {
                  changed.headers = text.split('\n').filter((it) => it.includes(':')).map((it) => ({
                    name: it.slice(0, it.indexOf(':')).trim(), value: it.slice(it.indexOf(':') + 1).trim() }));
                } else changed[name] = field.type === 'number' ? Number(text) : text;
              }
              const list = isNew ? [...this.list, changed] : this.list.map((it) => (it.id === rule.id ? changed : it));
              if (await this.save(list)) dialog.close();
            } }, h('label', {}, 'URL contains, or matches a pattern with *', fields.pattern),
            h('div', { class: 'line' }, h('label', {}, 'Method', fields.method),
              h('label', {}, 'Number of transfers', fields.limit)), rest);
            const title = ACTIONS.find(([action]) => action === rule.action);
            const save = h('button', { type: 'submit', class: 'button primary' }, isNew ? 'Add' : 'Save');
            save.setAttribute('form', 'rule-form');
            const dialog = openDialog(`${title[1]}: ${title[2].toLowerCase()}`, [form],
              [h('button', { type: 'button', class: 'button', onclick: () => dialog.close() }, 'Cancel'), save]);
            fields.pattern.focus();
          },
        };

        """#
}
