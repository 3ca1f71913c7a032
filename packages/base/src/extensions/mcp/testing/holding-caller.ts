/** A caller of a keeper in a process of its own, for tests that kill it: `bun holding-caller.ts SOCKET LABEL`. */
import { systemClock } from '../clock.ts';
import { KeptClient } from '../kept-client.ts';

const [, , socket = '', label = ''] = process.argv;
const client = new KeptClient(socket, systemClock, {
  onToolsChanged: () => undefined,
  onClosed: () => process.exit(1),
  onTrouble: () => undefined,
  onRefused: () => undefined,
});
await client.connect({ type: 'http', url: 'unused', headers: {}, protocol: 'auto' }, { timeoutMs: 20_000 });
const alive = setInterval(() => undefined, 1_000);
await client.callTool('hold', { label }, { timeoutMs: 60_000 });
clearInterval(alive);
