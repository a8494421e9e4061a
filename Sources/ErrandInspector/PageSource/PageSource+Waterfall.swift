// Generated from Page/waterfall.js by Scripts/inspector-page; do not edit.

extension PageSource {
    static let waterfall = #"""
        // Bars of phases.

        const PHASES = {
          queue: 'Waits for a permit', limit: 'Rate limit', offline: 'No network', shared: 'Waits for an identical request',
          delay: 'Delay before an attempt', credentials: 'Refresh of credentials', rule: 'Delayed by a rule',
          suspended: 'Suspended', blocked: 'Waits for a connection', dns: 'Name lookup', connect: 'Connect',
            tls: 'TLS handshake',
          wait: 'Waits for the response', receive: 'Receives the response', transfer: 'Transfer in progress',
          cache: 'Reads the store', unknown: 'Not recorded, because no page was open',
        };

        /** The phases of a row as objects; phases that last end now. */
        function phasesOf(row) {
          const now = model.duration(row);
          return row.phases.map(([kind, start, end, attempt]) => ({ kind, start, end: end ?? now, attempt,
            isOpen: end === null }));
        }

        /** Draws the phases into an element, whose width is `span` milliseconds. */
        function drawBar(element, row, span) {
          const total = model.duration(row);
          const scale = (time) => Math.min(100, 100 * time / span);
          const parts = [];
          const line = h('div', { class: isRunning(row) ? 'span open' : 'span' });
          line.style.width = `max(2px, ${scale(total)}%)`;
          parts.push(line);
          for (const phase of phasesOf(row)) {
            if (phase.start > span) continue;
            const part = h('div', { class: `phase ${phase.kind}${phase.isOpen ? ' open' : ''}` });
            part.style.left = `${scale(phase.start)}%`;
            part.style.width = `max(2px, ${scale(phase.end) - scale(phase.start)}%)`;
            parts.push(part);
          }
          element.replaceChildren(...parts);
        }

        /** A sentence with all phases, for screen readers and tooltips. */
        function barText(row) {
          const phases = phasesOf(row).map((it) => `${PHASES[it.kind] ?? it.kind} ${timeText(it.end - it.start)}`);
          return phases.length ? phases.join(', ') : `Total ${timeText(model.duration(row))}`;
        }

        /** The phases in rows, with a scale. */
        function timingView(row) {
          const total = Math.max(model.duration(row), ...phasesOf(row).map((it) => it.end), 0.001);
          const rows = phasesOf(row).map((phase) => {
            const track = h('div', { class: 'bar' });
            const part = h('div', { class: `phase ${phase.kind}${phase.isOpen ? ' open' : ''}` });
            part.style.left = `${100 * phase.start / total}%`;
            part.style.width = `max(2px, ${100 * (phase.end - phase.start) / total}%)`;
            track.append(part);
            const attempt = phase.attempt > 1 ? ` (attempt ${phase.attempt})` : '';
            return h('tr', {}, h('th', { scope: 'row' }, `${PHASES[phase.kind] ?? phase.kind}${attempt}`),
              h('td', { class: 'number' }, timeText(phase.start)), h('td', { class: 'track' }, track),
              h('td', { class: 'number' }, timeText(phase.end - phase.start)));
          });
          return h('table', { class: 'timing', 'aria-label': 'Phases' },
            h('thead', {}, h('tr', {}, ['Phase', 'Start', '', 'Duration'].map((it) => h('th', { scope: 'col' }, it)))),
            h('tbody', {}, rows),
            h('tfoot', {}, h('tr', {}, h('th', { scope: 'row' }, 'Total'), h('td'), h('td'),
              h('td', { class: 'number' }, timeText(model.duration(row))))));
        }

        """#
}
