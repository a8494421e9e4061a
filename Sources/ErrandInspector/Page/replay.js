// Sending a recorded request again, with changes.

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

function openReplay(data) {
  const { entry } = data.transfers[0];
  const { request } = entry;
  const text = request.postData?._encoding ? undefined : request.postData?.text;
  const methods = METHODS.includes(request.method) ? METHODS : [request.method, ...METHODS];
  const method = h('select', { id: 'replay-method' },
    methods.map((it) => h('option', { selected: it === request.method }, it)));
  const url = h('input', { id: 'replay-url', type: 'text', value: request.url, spellcheck: false });
  const headers = h('textarea', { id: 'replay-headers', class: 'code', rows: 7, spellcheck: false,
    value: request.headers.map((it) => `${it.name}: ${it.value}`).join('\n') });
  const body = h('textarea', { id: 'replay-body', class: 'code', rows: 8, spellcheck: false, value: text ?? '',
    placeholder: request.postData && text === undefined ? `The recorded body of ${bytesText(request.bodySize)}`
      : '' });
  const problem = h('p', { class: 'problem', role: 'alert', hidden: true });
  const send = h('button', { type: 'submit', class: 'button primary' }, 'Send');
  const form = h('form', { class: 'form', id: 'replay-form', onsubmit: async (event) => {
    event.preventDefault();
    const lines = headers.value.split('\n').filter((it) => it.trim());
    const wrong = lines.find((it) => !it.includes(':'));
    problem.hidden = !wrong;
    if (wrong) {
      problem.textContent = `The line “${wrong}” is not a header. Write: Name: value`;
      return;
    }
    const fields = lines.map((it) => {
      const colon = it.indexOf(':');
      return { name: it.slice(0, colon).trim(), value: it.slice(colon + 1).trim() };
    });
    const changed = body.value !== (text ?? '');
    send.disabled = true;
    try {
      await call('replay', { method: 'POST', body: { id: data.row.id, method: method.value, url: url.value.trim(),
        headers: fields, ...(changed ? { body: body.value } : {}) } });
      dialog.close();
      announce('Sent again');
    } catch (error) {
      problem.hidden = false;
      problem.textContent = error.message;
    }
    send.disabled = false;
  } },
  h('div', { class: 'line' }, h('label', { class: 'narrow' }, 'Method', method), h('label', {}, 'URL', url)),
  h('label', {}, 'Headers', headers), h('label', {}, 'Body', body),
  h('p', { class: 'hint' }, 'REDACTED stands for a secret: where it is unchanged, the original value is sent, ',
    'but only to the recorded scheme, host and port. ',
    'The request is sent as it is, without cache, cookies, authenticators and retries.'), problem);
  send.setAttribute('form', 'replay-form');
  const dialog = openDialog(`Send request #${data.row.id} again`, [form],
    [h('button', { type: 'button', class: 'button', onclick: () => dialog.close() }, 'Cancel'), send]);
  url.focus();
}
