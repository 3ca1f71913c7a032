import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm } from '@goondan/runtime';
import { textOf } from '@goondan/types';

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-steering-'));
const swarm = await startSwarm({ bundleFolder: join(import.meta.dir, 'library'), stateRoot });

// The agent reads a report, which takes a while.
const asked = swarm.ask({ input: 'Compare the reports', id: 'question' });
await new Promise((resolve) => void setTimeout(resolve, 500));

// This input is for the running turn. Both askers get the end of the same turn.
const steered = await swarm.ask({ input: 'The newest one is enough', id: 'steering', now: true });
const first = await asked;
assert.equal(textOf(steered.result.responseMessage), 'Only the newest report, then: sales went up.');
assert.equal(steered.eventId, 'steering');
assert.equal(steered.result.turnId, first.result.turnId);

// No turn runs now, so this input has a turn of its own.
const alone = await swarm.ask({ input: 'Thank you', id: 'thanks', now: true });
assert.equal(alone.result.turnId, 'turn-thanks');
await swarm.stop();
await rm(stateRoot, { recursive: true, force: true });
