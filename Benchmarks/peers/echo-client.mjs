// Echoes messages with the WebSocket of Node (undici): node --experimental-websocket echo-client.mjs COUNT IN_FLIGHT URL SIZE

const [count, inFlight, url, size] = process.argv.slice(2).map((it) => (/^\d+$/.test(it) ? Number(it) : it));
const message = new Uint8Array(size).fill(120);
const start = performance.now();
const begin = process.cpuUsage();
const socket = new WebSocket(url);
socket.binaryType = 'arraybuffer';
let [sent, received, bad] = [0, 0, 0];
function send() {
  socket.send(message);
  sent += 1;
}
socket.onopen = () => { while (sent < Math.min(inFlight, count)) send(); };
socket.onerror = (event) => {
  console.error(event.message);
  process.exit(1);
};
socket.onmessage = ({ data }) => {
  received += 1;
  if (data.byteLength !== size) bad += 1;
  if (sent < count) send();
  if (received < count) return;
  const { user, system } = process.cpuUsage(begin);
  console.log(JSON.stringify({ cpu_s: (user + system) / 1e6, wall_s: (performance.now() - start) / 1000,
    rss_peak_kb: process.resourceUsage().maxRSS, bad }));
  process.exit(0);
};
