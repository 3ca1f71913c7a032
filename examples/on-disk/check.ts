import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from '@goondan/types';
import { startOnDisk } from './agent.ts';
import { lookBack } from './look-back.ts';

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-on-disk-'));
try {
  const first = await startOnDisk(stateRoot);
  await first.say('1', 'Good morning');
  await first.close();

  // Another process would start like this: the conversation continues, and answered inputs are not answered again.
  const second = await startOnDisk(stateRoot);
  await second.say('1', 'Good morning');
  await second.say('2', 'And good night');
  const { store } = second;
  const { address } = second.agent.parts;
  const { messages } = await store.read(address);
  assert.deepEqual(messages.map(textOf), [
    'Good morning',
    'You said: Good morning',
    'And good night',
    'You said: And good night',
  ]);

  const { last, turns, asItWas, blamed } = await lookBack(store, address);
  assert.deepEqual([last, turns.length, asItWas.length], [4, 2, 2]);
  assert.deepEqual(
    blamed.map(({ seq, author }) => `${seq} ${author.kind}`),
    ['1 input', '2 model', '3 input', '4 model'],
  );
  await second.close();

  // On disk the conversation is a log of JSON lines. The last line of a turn has its commit.
  const folder = join(stateRoot, 'workspaces', 'example', 'instances', 'parrot~default', 'messages');
  const lines = (await readFile(join(folder, 'events.jsonl'), 'utf8')).trim().split('\n');
  assert.equal(lines.filter((line) => 'commit' in JSON.parse(line)).length, 2);
  assert.match(lines.join('\n'), /You said: And good night/);
} finally {
  await rm(stateRoot, { recursive: true, force: true });
}
