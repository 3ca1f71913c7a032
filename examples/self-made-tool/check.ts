// An agent lacks a tool, writes it, and uses it in the next step, after a person has approved the change.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm, type Swarm } from '@goondan/runtime';
import { textOf } from '@goondan/types';

const temporary = await mkdtemp(join(tmpdir(), 'goondan-self-made-tool-'));
const bundleFolder = join(temporary, 'bundle');
// The agent changes the files of its bundle, so it gets a copy.
await cp(import.meta.dirname, bundleFolder, { recursive: true });
await rm(join(bundleFolder, 'check.ts'));
const read = (path: string) => readFile(join(bundleFolder, path), 'utf8');

const swarm = await startSwarm({ bundleFolder, stateRoot: join(temporary, 'state') });
try {
  // A person denies the change: the files are as before, and the agent reads the reason.
  const scribe = await read('scribe.yaml');
  assert.match(await ask('2026 in Roman digits?', 'deny'), /There is no tool "roman__write"/);
  assert.equal(await read('scribe.yaml'), scribe);

  // A person approves the change. The same turn continues with the new tool.
  assert.equal(await ask('And now, 2026 in Roman digits?', 'approve'), 'It is MMXXVI.');
  assert.match(await read('scribe.yaml'), /Tool\/roman/);
  assert.match(await read('tools/roman.ts'), /^const digits/);

  // No policy lets an agent widen its own limits, and nobody is asked about it.
  const goondan = await read('goondan.yaml');
  const { result } = await swarm.ask({ agent: 'climber', input: 'Allow yourself more steps.' });
  assert.equal(textOf(result.responseMessage), 'rejected: policy_violation');
  assert.equal(await read('goondan.yaml'), goondan);
} finally {
  await swarm.stop();
  await rm(temporary, { recursive: true, force: true });
}

/** Asks the agent, and answers the question about its change, as a person does with `gdn approve` or `gdn deny`. */
async function ask(input: string, decision: 'approve' | 'deny'): Promise<string> {
  const asked = swarm.ask({ input });
  const { id, kind, args } = await waitingChange(swarm);
  assert.equal(kind, 'change');
  assert.match(JSON.stringify(args), /\+ {2}tools: \[Tool\/bundle, Tool\/roman\]/);
  const given = decision === 'approve' ? 'approved' : 'denied';
  await swarm.answer({ id, decision: given, by: 'alice', note: 'Not on a Friday.' });
  return textOf((await asked).result.responseMessage);
}

async function waitingChange(running: Swarm) {
  for (;;) {
    const [waiting] = await running.questions();
    if (waiting !== undefined) return waiting;
    await Bun.sleep(20);
  }
}
