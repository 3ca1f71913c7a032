import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from '@goondan/types';
import { startKitchen } from './swarm.ts';

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-crash-recovery-'));
const kitchen = join(stateRoot, 'kitchen.log');
const cooked = () => (existsSync(kitchen) ? readFileSync(kitchen, 'utf8').trim().split('\n') : []);
const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await Bun.sleep(5);
};

const swarm = await startKitchen(stateRoot);
const served = swarm.ask({ input: 'One soup and pie, please.', id: 'order-1' });

// The agent's process is killed while the agent cooks. Another process continues the same turn.
await until(() => cooked().length === 1);
const [before] = (await swarm.status()).instances;
process.kill(before?.pid ?? 0, 'SIGKILL');
const { result } = await served;
assert.equal(textOf(result.responseMessage), 'Served.');
const [after] = (await swarm.status()).instances;
assert.notEqual(after?.pid, before?.pid);
// The interrupted call was repeated, because the tool is idempotent. The answer came once.
assert.deepEqual(cooked(), ['soup', 'soup', 'pie']);

// An order is accepted, but the swarm is stopped before the order is served.
await swarm.deliver({ input: 'Another soup and pie.', id: 'order-2' });
await swarm.stop({ graceMs: 0 });

// The next start of the swarm serves this order by itself. A repeated request with the same id gets the answer.
const again = await startKitchen(stateRoot);
const late = await again.ask({ input: 'Another soup and pie.', id: 'order-2' });
assert.equal(textOf(late.result.responseMessage), 'Served.');
await again.stop();

await rm(stateRoot, { recursive: true, force: true });
