// Generated from Page/main.js by Scripts/inspector-page; do not edit.

extension PageSource {
    static let main = #"""
        // The parts of the page, and its keys.

        const VIEWS = [
          ['requests', 'Requests'], ['queue', 'Queue'], ['connections', 'Connections'], ['store', 'Store'],
            ['rules', 'Rules'],
        ];
        let currentView = 'requests';

        function buildPage() {
          const search = h('input',
            { type: 'search', id: 'search', placeholder: 'Search (-word excludes)',
            'aria-label': 'Search', title: 'Search (/)', spellcheck: false, oninput: () => {
              model.text = search.value;
              model.refresh();
            }, onkeydown: (event) => {
              if (event.key === 'Escape' && search.value) {
                event.stopPropagation();
                search.value = model.text = '';
                model.refresh();
              } else if (event.key === 'ArrowDown' || event.key === 'Enter') {
                event.preventDefault();
                table.element.focus();
                if (table.selected === null) table.move(0);
              }
            } });
          const chips = h('div', { class: 'chips', role: 'group', 'aria-label': 'Filter' }, FILTERS.map(([id, label]) =>
            h('button', { type: 'button', class: 'chip', 'data-filter': id, 'aria-pressed': String(id === model.filter),
              onclick: () => setFilter(id) }, label)));
          const pause = iconButton('pause', 'Pause the list (p)', () => togglePause(),
            { id: 'pause', 'aria-pressed': 'false' });
          document.body.replaceChildren(
            h('header', { class: 'top' },
              h('h1', {}, h('span', { class: 'logo', 'aria-hidden': 'true' }), 'Errand',
                h('span', { class: 'muted' }, ' Inspector')),
              h('div', { id: 'views' }), h('span', { class: 'space' }), h('span', { id: 'connection', role: 'status' }),
              iconButton('save', 'Save the listed requests as HAR', saveArchive),
                iconButton('clear', 'Clear (c)', clearRequests),
              iconButton('theme', 'Light or dark (t)', toggleTheme), iconButton('help', 'Keys (?)', showKeys)),
            h('main', {},
              h('section', { id: 'panel-requests', class: 'panel requests', role: 'tabpanel',
                'aria-labelledby': 'tab-requests' },
                h('div', { class: 'toolbar' }, pause, h('div', { class: 'search' }, icon(ICONS.search), search), chips,
                  h('span', { class: 'space' }), h('span', { id: 'count', class: 'muted', 'aria-live': 'polite' })),
                h('div', { class: 'split' }, table.build(), detail.build())),
              VIEWS.slice(1).map(([id]) => h('section', { id: `panel-${id}`, class: 'panel page', role: 'tabpanel',
                tabIndex: -1,
                'aria-labelledby': `tab-${id}`, hidden: true }))),
            h('div', { id: 'toast', class: 'toast', role: 'status', 'aria-live': 'polite' }));
          showView(currentView);
        }

        function showView(name) {
          currentView = name;
          document.getElementById('views').replaceChildren(tabList('Views', VIEWS, name, showView));
          for (const [id] of VIEWS) document.getElementById(`panel-${id}`).hidden = id !== name;
          if (name === 'requests') table.update();
          else if (name === 'rules') rules.load();
          else views.show(name);
          updateCounts();
        }

        /** Shows a request in the table. */
        function showRequest(id) {
          showView('requests');
          const index = model.visible.findIndex((it) => it.id === id);
          if (index >= 0) table.move(index);
          else table.select(id);
          table.element.focus();
        }

        function setFilter(id) {
          model.filter = id;
          for (const chip of document.querySelectorAll('.chip')) {
            chip.setAttribute('aria-pressed', String(chip.dataset.filter === id));
          }
          model.refresh();
        }

        /** The numbers in the tabs and beside the search. */
        function updateCounts() {
          const count = document.getElementById('count');
          if (!count) return;
          const { size } = model.rows;
          const shown = model.visible.length;
          count.textContent = (shown === size ? `${size} requests` : `${shown} of ${size} requests`)
            + (model.isPaused ? `, paused` : '');
          let waiting = 0;
          for (const row of model.rows.values()) if (row.state === 'waiting') waiting += 1;
          badge('queue', waiting);
          badge('rules', rules.list.filter((it) => it.isEnabled).length);
        }

        function badge(name, count) {
          const tab = document.getElementById(`tab-${name}`);
          if (!tab) return;
          tab.querySelector('.badge')?.remove();
          if (count) tab.append(h('span', { class: 'badge' }, count));
        }

        function togglePause() {
          const isPaused = !model.isPaused;
          const button = document.getElementById('pause');
          button.setAttribute('aria-pressed', String(isPaused));
          button.replaceChildren(icon(isPaused ? ICONS.play : ICONS.pause));
          const label = isPaused ? 'Continue the list (p)' : 'Pause the list (p)';
          button.title = label;
          button.setAttribute('aria-label', label);
          model.setPaused(isPaused);
          updateCounts();
        }

        async function clearRequests() {
          if (!await post('clear')) return;
          model.rows.clear();
          detail.close();
          model.refresh();
        }

        async function saveArchive() {
          try {
            const ids = model.visible.length === model.rows.size ? '' : `?ids=${model.visible.map((it) => it.id).join(',')}`;
            saveFile('errand.har', 'application/json', await call(`har${ids}`, { isText: true }));
          } catch (error) {
            announce(error.message, true);
          }
        }

        function setConnected(isConnected, reason = '') {
          const element = document.getElementById('connection');
          const text = isConnected ? 'Live' : 'Disconnected';
          if (element.textContent === text) return;
          element.textContent = text;
          element.className = isConnected ? 'live' : 'lost';
          element.title = isConnected ? 'The page receives changes' : `The inspector does not respond: ${reason}`;
        }

        function toggleTheme() {
          const isDark = document.documentElement.dataset.theme
            ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
          document.documentElement.dataset.theme = isDark ? 'light' : 'dark';
          localStorage.setItem('errand-theme', document.documentElement.dataset.theme);
        }

        const KEYS = [
          ['/', 'Search'], ['↑ ↓ Page Home End', 'Choose a request'], ['Enter', 'Go to the details'],
            ['Esc', 'Close the details'],
          ['1 … 5', 'Show a view'], ['f', 'Show failed requests, or all'], ['p', 'Pause or continue the list'],
            ['c', 'Clear'],
          ['t', 'Light or dark'],
        ];

        function showKeys() {
          openDialog('Keys', [h('dl', { class: 'keys' }, KEYS.map(([key, text]) => [h('dt', {}, h('kbd', {}, key)),
            h('dd', {}, text)]))],
            []);
        }

        document.addEventListener('keydown', (event) => {
          if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, dialog')) return;
          const actions = { '/': () => {
            showView('requests');
            document.getElementById('search').select();
          }, p: togglePause, c: clearRequests, t: toggleTheme, '?': showKeys,
          f: () => setFilter(model.filter === 'failed' ? 'all' : 'failed') };
          const view = VIEWS[Number(event.key) - 1];
          if (view) showView(view[0]);
          else if (actions[event.key]) actions[event.key]();
          else return;
          event.preventDefault();
        });

        const theme = localStorage.getItem('errand-theme');
        if (theme) document.documentElement.dataset.theme = theme;
        buildPage();
        rules.load();
        followChanges();

        """#
}
