// Generated from Page/dom.js by Scripts/inspector-page; do not edit.

extension PageSource {
    static let dom = #"""
        // Elements and texts. All elements are created by code: no text of a server is ever parsed as markup.

        /** Creates an element. `properties` are properties, `aria-*`, `data-*`, `role`, `class` and `on*` listeners. */
        function h(tag, properties = {}, ...children) {
          const element = document.createElement(tag);
          for (const [name, value] of Object.entries(properties)) {
            if (value === null || value === undefined || value === false) continue;
            if (name === 'class') element.className = value;
            else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
            else if (/^(aria-|data-|role$|for$|colspan$)/.test(name)) element.setAttribute(name,
              value === true ? 'true' : value);
            else element[name] = value;
          }
          element.append(...children.flat(Infinity).filter((it) => it !== null && it !== undefined && it !== false));
          return element;
        }

        const SVG = 'http://www.w3.org/2000/svg';

        /** An icon of one path in a square of 16 units. */
        function icon(path) {
          const svg = document.createElementNS(SVG, 'svg');
          svg.setAttribute('viewBox', '0 0 16 16');
          svg.setAttribute('aria-hidden', 'true');
          svg.classList.add('icon');
          const line = document.createElementNS(SVG, 'path');
          line.setAttribute('d', path);
          svg.append(line);
          return svg;
        }

        const ICONS = {
          pause: 'M5 3v10M11 3v10',
          play: 'M5 3l8 5-8 5z',
          clear: 'M3 4h10M6 4V2.5h4V4M4.5 4l.6 9h5.8l.6-9',
          save: 'M8 2v8M4.8 7L8 10.2 11.2 7M3 13h10',
          theme: 'M8 2.2a5.8 5.8 0 1 0 0 11.6zM8 2.2a5.8 5.8 0 0 1 0 11.6',
          help: 'M6 6.2C6 4.8 7 4 8.1 4s2 .8 2 1.9c0 1.6-2 1.7-2 3.3M8.1 11.8v.3',
          close: 'M4 4l8 8M12 4l-8 8',
          search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4M10.2 10.2L13.5 13.5',
          replay: 'M12.5 8a4.5 4.5 0 1 1-1.4-3.3M12.6 2.4v2.9H9.7',
          plus: 'M8 3v10M3 8h10',
        };

        /** A button with an icon; its label is its tooltip and its accessible name. */
        function iconButton(name, label, onclick, properties = {}) {
          return h('button', { type: 'button', class: 'icon-button', title: label, 'aria-label': label, onclick,
            ...properties },
            icon(ICONS[name]));
        }

        /** A number of bytes with a unit. */
        function bytesText(count) {
          if (count === null || count === undefined || count < 0) return '';
          if (count < 1000) return `${count} B`;
          const units = ['kB', 'MB', 'GB', 'TB'];
          let value = count / 1000, unit = 0;
          while (value >= 999.5 && unit < units.length - 1) {
            value /= 1000;
            unit += 1;
          }
          return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
        }

        /** A number of milliseconds with a unit. */
        function timeText(milliseconds) {
          if (milliseconds === null || milliseconds === undefined) return '';
          if (milliseconds < 0.95) return `${Math.round(milliseconds * 1000)} µs`;
          if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
          if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
          if (milliseconds < 60000) return `${(milliseconds / 1000).toFixed(milliseconds < 10000 ? 2 : 1)} s`;
          if (milliseconds >= 172800000) return `${Math.floor(milliseconds / 86400000)} days`;
          if (milliseconds >= 7200000) return `${Math.floor(milliseconds / 3600000)} h`;
          return `${Math.floor(milliseconds / 60000)} min ${Math.round(milliseconds / 1000) % 60} s`;
        }

        /** The time of day of a date in milliseconds. */
        function clockText(date) {
          return new Date(date).toLocaleTimeString([], { hour12: false }) + '.' + String(Math.floor(date % 1000)).padStart(3,
            '0');
        }

        /** Shows a short message, which screen readers speak. */
        function announce(text, isError = false) {
          const toast = document.getElementById('toast');
          toast.textContent = text;
          toast.className = isError ? 'toast shown error' : 'toast shown';
          clearTimeout(announce.timer);
          announce.timer = setTimeout(() => { toast.className = 'toast'; }, isError ? 6000 : 2500);
        }

        /** Copies a text to the clipboard. */
        async function copyText(text, name) {
          try {
            await navigator.clipboard.writeText(text);
            announce(`${name} copied`);
          } catch {
            // Without the permission, the text can be selected by hand.
            const area = h('textarea', { class: 'code', value: text, readOnly: true, rows: 14, 'aria-label': name });
            openDialog(`Copy ${name}`, [area], []);
            area.select();
          }
        }

        /** Saves a text as a file. */
        function saveFile(name, type, text) {
          const url = URL.createObjectURL(new Blob([text], { type }));
          h('a', { href: url, download: name }).click();
          setTimeout(() => URL.revokeObjectURL(url), 1000);
        }

        /** Opens a modal dialog; the Escape key closes it. */
        function openDialog(title, content, buttons) {
          const heading = h('h2', { id: 'dialog-title' }, title);
          const dialog = h('dialog', { 'aria-labelledby': 'dialog-title' },
            h('header', {}, heading, iconButton('close', 'Close', () => dialog.close())),
            h('div', { class: 'dialog-content' }, content),
            buttons.length ? h('footer', {}, buttons) : null);
          dialog.addEventListener('close', () => dialog.remove());
          document.body.append(dialog);
          dialog.showModal();
          return dialog;
        }

        /** A list of tabs with arrow keys. `tabs` are [identifier, label]. */
        function tabList(label, tabs, selected, select) {
          const list = h('div', { role: 'tablist', 'aria-label': label, class: 'tabs' });
          for (const [id, text] of tabs) {
            const isSelected = id === selected;
            list.append(h('button', {
              type: 'button', role: 'tab', id: `tab-${id}`, 'data-tab': id, 'aria-selected': String(isSelected),
              tabIndex: isSelected ? 0 : -1, onclick: () => select(id),
            }, text));
          }
          list.addEventListener('keydown', (event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[event.key];
            if (step === undefined) return;
            event.preventDefault();
            event.stopPropagation();
            const buttons = [...list.children];
            const current = buttons.indexOf(document.activeElement);
            const next = step === -Infinity ? 0 : step === Infinity ? buttons.length - 1
              : (current + step + buttons.length) % buttons.length;
            const id = buttons[next].dataset.tab;
            select(id);
            document.getElementById(`tab-${id}`)?.focus();
          });
          return list;
        }

        /** A table of texts or elements. */
        function dataTable(label, headings, rows, empty) {
          if (!rows.length) return h('p', { class: 'empty' }, empty);
          return h('table', { class: 'data', 'aria-label': label },
            h('thead', {}, h('tr', {}, headings.map((it) => h('th', { scope: 'col' }, it)))),
            h('tbody', {}, rows.map((cells) => h('tr', {}, cells.map((it) => h('td', {}, it))))));
        }

        let isPressed = false;
        let afterRelease = [];
        addEventListener('pointerdown', () => { isPressed = true; }, true);
        for (const name of ['pointerup', 'pointercancel']) {
          addEventListener(name, () => {
            isPressed = false;
            // The click follows this event.
            setTimeout(() => {
              const changes = afterRelease;
              afterRelease = [];
              for (const change of changes) change();
            });
          }, true);
        }

        /** Makes a change now or, while the pointer is pressed, after the click: a replaced button is not clicked. */
        function afterPress(change) {
          if (isPressed) afterRelease.push(change);
          else change();
        }

        """#
}
