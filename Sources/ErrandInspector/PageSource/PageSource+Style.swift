// Generated from Page/style.css by Scripts/inspector-page; do not edit.

extension PageSource {
    static let style = #"""
        :root {
          --background: #ffffff; --panel: #f5f6f8; --raised: #ffffff; --border: #dde1e7; --line: #eceff3;
          --text: #1a212c; --muted: #5a6575; --accent: #2457c5; --accent-soft: #e6edfb; --selected: #dbe6fd;
          --hover: #f0f3f8; --good: #15713c; --good-soft: #e1f4e8; --bad: #b82236; --bad-soft: #fde8ea; --warn: #9a5b00;
          --warn-soft: #fdf0d8; --info-soft: #e9ecf1; --rule: #a3308a; --rule-soft: #f9e5f4; --shadow: 0 8px 32px #1a212c33;
          --queue: #a68be0; --limit: #8460cc; --delay: #dfa234; --rule-bar: #d25bb0; --blocked: #b7bfca; --dns: #2fa29a;
          --connect: #e5823a; --tls: #b25ccb; --wait: #3fa362; --receive: #3b7fdc; --cache: #7d8ba0; --shared: #5f9fb5;
          color-scheme: light;
          font: 13px/1.45 system-ui, -apple-system, "Segoe UI", "Inter", "Noto Sans", "Liberation Sans", "DejaVu Sans",
            sans-serif;
        }
        @media (prefers-color-scheme: dark) {
          :root:not([data-theme="light"]) {
            --background: #14171c; --panel: #1a1e25; --raised: #20252d; --border: #303743; --line: #232932; --text: #e3e8ef;
            --muted: #a4aebc; --accent: #82aaff; --accent-soft: #22304c; --selected: #263a60; --hover: #1f242c;
              --good: #5fd08c;
            --good-soft: #173325; --bad: #ff7d8b; --bad-soft: #3d1f26; --warn: #f0b95a; --warn-soft: #3a2d16;
            --info-soft: #2a313b; --rule: #f08ad6; --rule-soft: #3c2037; --shadow: 0 8px 32px #000000a0; --blocked: #59636f;
            color-scheme: dark;
          }
        }
        :root[data-theme="dark"] {
          --background: #14171c; --panel: #1a1e25; --raised: #20252d; --border: #303743; --line: #232932; --text: #e3e8ef;
          --muted: #a4aebc; --accent: #82aaff; --accent-soft: #22304c; --selected: #263a60; --hover: #1f242c; --good: #5fd08c;
          --good-soft: #173325; --bad: #ff7d8b; --bad-soft: #3d1f26; --warn: #f0b95a; --warn-soft: #3a2d16;
          --info-soft: #2a313b; --rule: #f08ad6; --rule-soft: #3c2037; --shadow: 0 8px 32px #000000a0; --blocked: #59636f;
          color-scheme: dark;
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        html, body { height: 100%; margin: 0; }
        body { display: flex; flex-direction: column; background: var(--background); color: var(--text); overflow: hidden; }
        button, input, select, textarea { font: inherit; color: inherit; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: -1px; }
        code, pre, .code, .detail-url, .cell.url, .json, .headers, .preview, kbd {
          font-family: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", "Liberation Mono", "DejaVu Sans Mono",
            monospace;
          font-size: 12px;
        }
        .space { flex: 1; }
        .muted, .hint { color: var(--muted); }
        .icon { width: 16px; height: 16px; fill: none; stroke: currentColor; stroke-width: 1.5; stroke-linecap: round;
          stroke-linejoin: round; }

        .top { display: flex; align-items: center; gap: 6px; padding: 0 12px; height: 44px; flex: none;
          background: var(--panel); border-bottom: 1px solid var(--border); }
        .top h1 { display: flex; align-items: center; gap: 4px; margin: 0 16px 0 0; font-size: 14px; font-weight: 650;
          white-space: nowrap; }
        .logo { width: 14px; height: 14px; margin-right: 4px; border-radius: 4px;
          background: linear-gradient(var(--receive) 0 34%, transparent 34% 40%, var(--wait) 40% 60%, transparent 60% 66%,
            var(--delay) 66%); }
        .top h1 .muted { font-weight: 450; }
        #connection { display: flex; align-items: center; gap: 6px; margin-right: 8px; color: var(--muted); font-size: 12px; }
        #connection::before { content: ""; width: 8px; height: 8px; border-radius: 50%; background: var(--muted); }
        #connection.live::before { background: var(--good); }
        #connection.lost { color: var(--bad); }
        #connection.lost::before { background: var(--bad); }

        .tabs { display: flex; gap: 2px; }
        .tabs button { padding: 5px 11px; border: 0; border-radius: 6px; background: none; color: var(--muted);
          cursor: pointer; }
        .tabs button:hover { background: var(--hover); color: var(--text); }
        .tabs button[aria-selected="true"] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
        .badge { margin-left: 6px; padding: 0 6px; border-radius: 9px; background: var(--accent); color: var(--background);
          font-size: 11px; font-weight: 650; }
        .icon-button { display: inline-flex; padding: 6px; border: 0; border-radius: 6px; background: none;
          color: var(--muted);
          cursor: pointer; }
        .icon-button:hover { background: var(--hover); color: var(--text); }
        .icon-button[aria-pressed="true"] { background: var(--warn-soft); color: var(--warn); }
        .button { display: inline-flex; align-items: center; gap: 4px; padding: 3px 10px; border: 1px solid var(--border);
          border-radius: 6px; background: var(--raised); cursor: pointer; white-space: nowrap; }
        .button:hover { border-color: var(--muted); }
        .button.primary { border-color: var(--accent); background: var(--accent); color: var(--background); font-weight: 600;
          }
        .link, .more { padding: 0 2px; border: 0; background: none; color: var(--accent); cursor: pointer; }
        .link:hover, .more:hover { text-decoration: underline; }

        main, .panel { flex: 1; min-height: 0; display: flex; flex-direction: column; }
        .toolbar { display: flex; align-items: center; gap: 8px; padding: 7px 12px; border-bottom: 1px solid var(--border);
          flex: none; }
        .search { position: relative; flex: 0 1 340px; }
        .search .icon { position: absolute; left: 8px; top: 7px; color: var(--muted); }
        .search input { width: 100%; padding: 4px 8px 4px 30px; border: 1px solid var(--border); border-radius: 6px;
          background: var(--raised); }
        .chips { display: flex; gap: 4px; }
        .chip { padding: 3px 10px; border: 1px solid transparent; border-radius: 12px; background: none; color: var(--muted);
          cursor: pointer; white-space: nowrap; }
        .chip:hover { background: var(--hover); }
        .chip[aria-pressed="true"] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
        #count { white-space: nowrap; font-variant-numeric: tabular-nums; }

        .split { flex: 1; min-height: 0; display: flex; }
        .table { position: relative; flex: 1 1 55%; min-width: 0; display: flex; flex-direction: column; }
        .table:focus-visible { outline-offset: -2px; }
        .table-body { flex: 1; min-height: 0; overflow-y: scroll; overflow-x: hidden; }
        .canvas { position: relative; }
        .row { display: grid; grid-template-columns: 84px 66px 150px minmax(160px, 1fr) 72px 76px minmax(120px, 24%);
          align-items: center; height: 28px; }
        .canvas .row { position: absolute; left: 0; right: 0; top: 0; cursor: default; border-bottom: 1px solid var(--line);
          contain: strict; }
        .canvas .row:hover { background: var(--hover); }
        .canvas .row.selected { background: var(--selected); }
        .row.head { flex: none; background: var(--panel); border-bottom: 1px solid var(--border); color: var(--muted); }
        .row.head button { padding: 2px 0; border: 0; background: none; color: inherit; font-size: 12px; font-weight: 600;
          cursor: pointer; }
        .row.head .cell { display: flex; align-items: center; gap: 4px; }
        [aria-sort="ascending"] .arrow::before { content: "▲"; }
        [aria-sort="descending"] .arrow::before { content: "▼"; }
        .arrow { font-size: 8px; }
        [aria-sort="ascending"] .arrow, [aria-sort="descending"] .arrow { margin-left: 4px; }
        .scale { margin-left: auto; font-size: 11px; }
        .cell { padding: 0 8px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .cell.status { padding-left: 12px; }
        .cell.size, .cell.duration { text-align: right; justify-content: flex-end; font-variant-numeric: tabular-nums; }
        .cell.endpoint { font-weight: 550; }
        .cell.method, .method { font-size: 11px; font-weight: 650; letter-spacing: .02em; color: var(--muted); }
        .method[data-method="GET"] { color: var(--accent); }
        .method[data-method="POST"], .method[data-method="PUT"], .method[data-method="PATCH"] { color: var(--good); }
        .method[data-method="DELETE"] { color: var(--bad); }
        .cell.url { display: flex; align-items: baseline; }
        .address { min-width: 60px; overflow: hidden; text-overflow: ellipsis; }
        .host { color: var(--muted); }
        .mark { flex: none; max-width: 60%; overflow: hidden; text-overflow: ellipsis; }
        .status { display: inline-block; padding: 0 7px; border-radius: 5px; font-size: 12px; font-weight: 600;
          font-variant-numeric: tabular-nums; }
        .status.done { background: var(--good-soft); color: var(--good); }
        .status.failed { background: var(--bad-soft); color: var(--bad); }
        .status.redirect, .status.waiting { background: var(--warn-soft); color: var(--warn); }
        .status.active { background: var(--accent-soft); color: var(--accent); }
        .status.cancelled { background: var(--info-soft); color: var(--muted); }
        .mark { margin-left: 8px; padding: 1px 6px; border-radius: 4px; background: var(--info-soft); color: var(--muted);
          font: 11px/1.4 system-ui, sans-serif; }
        .mark.wait, .mark.retry, .mark.throttle, .mark.pause { background: var(--warn-soft); color: var(--warn); }
        .mark.error, .mark.fault { background: var(--bad-soft); color: var(--bad); }
        .mark.rule, .mark.mock { background: var(--rule-soft); color: var(--rule); }
        .mark.action { margin: 0; }
        .placeholder { position: absolute; inset: 90px 20px auto; text-align: center; color: var(--muted);
          pointer-events: none; }

        .cell.id, .bar { position: relative; height: 100%; }
        .row:not(.head) .cell.id { overflow: hidden; margin: 0 8px; padding: 0; }
        .bar { height: 14px; }
        .span, .bar .phase, .cell .phase { position: absolute; top: 50%; height: 10px; margin-top: -5px; border-radius: 2px; }
        .span { left: 0; height: 2px; margin-top: -1px; background: var(--border); }
        .span.open, .phase.open { background-image: repeating-linear-gradient(115deg, #fff5 0 4px, #fff0 4px 8px); }
        .phase { background-color: var(--blocked); }
        .phase.queue, .phase.offline { background-color: var(--queue); } .phase.limit { background-color: var(--limit); }
        .phase.delay, .phase.suspended { background-color: var(--delay); } .phase.rule { background-color: var(--rule-bar); }
        .phase.shared, .phase.credentials { background-color: var(--shared); } .phase.dns { background-color: var(--dns); }
        .phase.connect { background-color: var(--connect); } .phase.tls { background-color: var(--tls); }
        .phase.wait { background-color: var(--wait); } .phase.receive, .phase.transfer { background-color: var(--receive); }
        .phase.cache { background-color: var(--cache); } .phase.unknown { background-color: var(--blocked); }

        .detail { flex: 1 1 45%; min-width: 380px; max-width: 60%; display: flex; flex-direction: column;
          border-left: 1px solid var(--border); background: var(--background); }
        .with-detail .row { grid-template-columns: 84px 72px 130px minmax(100px, 1fr) 76px; }
        .with-detail .row .size, .with-detail .row .cell.id { display: none; }
        .detail-head { display: flex; align-items: center; gap: 8px; padding: 7px 8px 5px 12px; flex: none; }
        .detail-head strong { font-size: 14px; }
        .number-mark { color: var(--muted); }
        .actions, .buttons { display: flex; gap: 6px; }
        .buttons { justify-content: flex-end; }
        .actions select { max-width: 108px; }
        .detail-url { padding: 0 12px 8px; word-break: break-all; max-height: 66px; overflow: auto; flex: none; }
        .detail > .tabs { padding: 0 8px 6px; border-bottom: 1px solid var(--border); flex: none; }
        .detail-content { flex: 1; min-height: 0; overflow: auto; padding: 12px; }
        h2 { margin: 18px 0 8px; font-size: 14px; font-weight: 650; }
        h3 { margin: 18px 0 6px; font-size: 12px; font-weight: 650; color: var(--muted); }
        h3:first-child { margin-top: 0; }
        .count { margin-left: 6px; font-weight: 400; }
        dl { display: grid; grid-template-columns: max-content 1fr; gap: 3px 14px; margin: 0; }
        dt { color: var(--muted); }
        dd { margin: 0; overflow-wrap: anywhere; }
        .headers dt { max-width: 220px; overflow-wrap: anywhere; }
        .headers .secret, .json-secret { color: var(--warn); }
        .problem { padding: 8px 10px; margin: 0 0 12px; border-radius: 6px; background: var(--bad-soft); color: var(--bad);
          overflow-wrap: anywhere; }
        .empty { color: var(--muted); }
        .chooser { margin: 0 0 10px; color: var(--muted); }
        .chooser select { padding: 2px 6px; border: 1px solid var(--border); border-radius: 6px; background: var(--raised);
          color: var(--text); }

        table { border-collapse: collapse; width: 100%; }
        th { text-align: left; font-weight: 600; color: var(--muted); font-size: 12px; }
        .data td, .data th { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); vertical-align: middle;
          overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
        .data th { border-color: var(--border); }
        .data td:last-child { white-space: nowrap; }
        .data th:last-child, .data td:last-child { text-align: right; }
        .timing th[scope="row"] { font-weight: 400; color: var(--text); white-space: nowrap; padding-right: 12px; }
        .timing td, .timing th { padding: 3px 0; }
        .timing .track { width: 55%; padding: 0 12px; }
        .timing tfoot th, .timing tfoot td { border-top: 1px solid var(--border); font-weight: 600; }
        .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
        .timing thead th:nth-child(2), .timing thead th:nth-child(4) { text-align: right; }
        .events { list-style: none; margin: 0; padding: 0; }
        .events li { display: flex; gap: 12px; padding: 3px 0 3px 10px; border-left: 3px solid var(--border); }
        .events time { flex: none; width: 64px; text-align: right; color: var(--muted); font-variant-numeric: tabular-nums; }
        .events .network { border-color: var(--receive); } .events .wait { border-color: var(--delay); }
        .events .cache { border-color: var(--cache); } .events .error { border-color: var(--bad); color: var(--bad); }
        .events .end { border-color: var(--good); }

        .message-facts { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 0 0 10px; color: var(--muted);
          font-variant-numeric: tabular-nums; }
        .message-state { color: var(--text); font-weight: 600; }
        .message-bar { display: flex; flex-wrap: wrap; gap: 6px 8px; margin-bottom: 8px; }
        .messages { list-style: none; margin: 0; padding: 0; }
        .messages li { border-bottom: 1px solid var(--line); border-left: 3px solid var(--border); }
        .messages li.sent { border-left-color: var(--good); } .messages li.received { border-left-color: var(--accent); }
        .message { display: grid; grid-template-columns: 18px minmax(0, 1fr) max-content max-content; gap: 8px; width: 100%;
          align-items: baseline; padding: 4px 4px 4px 8px; border: 0; background: none; color: inherit; text-align: left;
          cursor: pointer; font-variant-numeric: tabular-nums; }
        .message:hover { background: var(--hover); }
        .message .preview { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
        .message-size, .message time { color: var(--muted); font-size: 12px; }
        .message-content { padding: 0 8px 0 28px; }
        .message-content:not(:empty) { padding-bottom: 10px; }
        .arrow-mark { font-weight: 700; } .arrow-mark.sent { color: var(--good); }
        .arrow-mark.received { color: var(--accent); }

        .body-bar { display: flex; gap: 12px; margin-bottom: 8px; color: var(--muted); font-size: 12px; }
        pre { margin: 0; padding: 10px; border-radius: 6px; background: var(--panel); white-space: pre-wrap;
          overflow-wrap: anywhere; }
        pre.hex { white-space: pre; overflow-x: auto; }
        .picture-frame { display: inline-block; padding: 8px; border: 1px solid var(--border); border-radius: 6px;
          background: repeating-conic-gradient(var(--line) 0 25%, var(--background) 0 50%) 0 0 / 16px 16px; }
        .picture { display: block; max-width: 100%; max-height: 60vh; }
        .json { line-height: 1.6; overflow-wrap: anywhere; }
        .json summary { cursor: pointer; list-style: none; }
        .json summary::before { content: "▸"; display: inline-block; width: 14px; color: var(--muted); }
        .json details[open] > summary::before { content: "▾"; }
        .json details[open] > summary .json-preview { display: none; }
        .json-content { padding-left: 18px; border-left: 1px solid var(--line); margin-left: 4px; }
        .json-leaf { padding-left: 14px; }
        .json-key { color: var(--rule); } .json-mark, .json-preview, .json-null { color: var(--muted); }
        .json-preview { margin-left: 8px; opacity: .8; }
        .json-string { color: var(--good); } .json-number { color: var(--accent); } .json-boolean { color: var(--warn); }

        .page { padding: 16px 20px; overflow: auto; }
        .page > h2:first-child, .panel-head h2 { margin-top: 0; }
        .panel-head { display: flex; align-items: center; gap: 8px; margin-bottom: 8px; }
        .panel-head h2 { margin: 0; }
        .cards { display: flex; gap: 12px; flex-wrap: wrap; }
        .card { display: flex; flex-direction: column; min-width: 130px; padding: 8px 14px; border: 1px solid var(--border);
          border-radius: 8px; background: var(--panel); }
        .card-name { color: var(--muted); font-size: 12px; }
        .card-value { font-size: 16px; font-weight: 600; }
        .reason { color: var(--warn); }
        .circuit { font-weight: 600; } .circuit.open { color: var(--bad); } .circuit.half-open { color: var(--warn); }

        dialog { width: min(680px, 92vw); max-height: 88vh; padding: 0; border: 1px solid var(--border); border-radius: 10px;
          background: var(--background); color: var(--text); box-shadow: var(--shadow); flex-direction: column; }
        dialog[open] { display: flex; }
        dialog::backdrop { background: #0006; }
        dialog header, dialog footer { display: flex; align-items: center; gap: 8px; padding: 10px 16px; flex: none; }
        dialog header { justify-content: space-between; border-bottom: 1px solid var(--border); }
        dialog footer { justify-content: flex-end; border-top: 1px solid var(--border); }
        dialog h2 { margin: 0; }
        .dialog-content { padding: 14px 16px; overflow: auto; }
        .form { display: flex; flex-direction: column; gap: 10px; }
        .form label { display: flex; flex-direction: column; gap: 3px; flex: 1; color: var(--muted); font-size: 12px; }
        .form .narrow { flex: 0 0 110px; }
        .form .line { display: flex; gap: 10px; }
        .form input, .form textarea, .form select, dialog textarea { padding: 5px 8px; border: 1px solid var(--border);
          border-radius: 6px; background: var(--raised); color: var(--text); width: 100%; }
        .form .hint, .form .problem { margin: 0; }
        .keys { grid-template-columns: max-content 1fr; gap: 8px 20px; }
        kbd { padding: 1px 6px; border: 1px solid var(--border); border-radius: 4px; background: var(--panel); }
        .toast { position: fixed; left: 50%; bottom: 24px; transform: translate(-50%, 16px); max-width: 80vw;
          padding: 8px 16px;
          border-radius: 8px; background: var(--text); color: var(--background); opacity: 0; pointer-events: none;
          transition: opacity .15s, transform .15s; }
        .toast.shown { opacity: 1; transform: translate(-50%, 0); }
        .toast.error { background: var(--bad); color: var(--background); }
        @media (prefers-reduced-motion: reduce) { .toast { transition: none; } }
        @media (max-width: 1000px) { .chip[data-filter="changed"], .chip[data-filter="cached"] { display: none; } }
        @media (max-width: 700px) {
          .top { gap: 2px; padding: 0 6px; } .top h1, #connection { display: none; } .top .icon-button { padding: 4px; }
          .top > .space { display: none; } #views { flex: 1; min-width: 0; overflow-x: auto; }
          .tabs button { padding: 5px 7px; }
          .toolbar { flex-wrap: wrap; } .search { flex: 1 1 160px; } .toolbar .chips { overflow-x: auto; }
          .row, .with-detail .row { grid-template-columns: 84px 60px minmax(0, 1fr) 76px; }
          .split .row .endpoint, .split .row .size, .split .row .cell.id { display: none; }
          .with-detail .table, .with-detail .toolbar { display: none; }
          .body-bar { flex-wrap: wrap; gap: 4px 12px; } .body-bar .space { display: none; } .link { white-space: nowrap; }
          .detail { min-width: 0; max-width: none; border-left: 0; }
          .detail-head { flex-wrap: wrap; } .detail > .tabs { overflow-x: auto; } .detail > .tabs button { flex: none; }
          .page { padding: 12px; }
        }

        """#
}
