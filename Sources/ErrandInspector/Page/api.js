// The calls of the inspector's server.

const TOKEN = new URLSearchParams(location.search).get('token') ?? '';

/** Performs a call, and throws the server's sentence if it fails. */
async function call(path, options = {}) {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  if (options.body !== undefined) headers['Content-Type'] = 'application/json';
  const response = await fetch(`/api/${path}`, {
    method: options.method ?? 'GET', headers, cache: 'no-store', signal: options.signal,
    body: options.body === undefined ? undefined : JSON.stringify(options.body),
  });
  const text = await response.text();
  if (!response.ok) {
    let message = `Status ${response.status}`;
    try { message = JSON.parse(text).error ?? message; } catch { /* not JSON */ }
    throw new Error(message);
  }
  return options.isText ? text : JSON.parse(text);
}

/** Performs a call that changes something, and shows its error. */
async function post(path, body = {}) {
  try {
    return await call(path, { method: 'POST', body });
  } catch (error) {
    announce(error.message, true);
    return null;
  }
}

/** Receives changes until the page is closed. */
async function followChanges() {
  let failures = 0;
  for (;;) {
    try {
      const changes = await call(`changes?since=${model.revision}&wait=10000`);
      failures = 0;
      setConnected(true);
      model.apply(changes);
      // Changes of the meantime arrive together.
      if (!changes.more) await new Promise((resume) => setTimeout(resume, 100));
    } catch (error) {
      failures += 1;
      setConnected(false, error.message);
      await new Promise((resume) => setTimeout(resume, Math.min(5000, 500 * failures)));
    }
  }
}
