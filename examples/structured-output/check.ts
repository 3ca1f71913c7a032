import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSwarm } from '@goondan/runtime';
import { readSchemaFile } from '@goondan/runtime/bundle';
import { findDays, findProduct } from './ask.ts';
import { startShop } from './swarm.ts';

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-structured-output-'));
try {
  const swarm = await startSwarm({ bundleFolder: import.meta.dirname, stateRoot });
  // The first answer of the model does not fit, so the model gets the problems and answers again.
  const { result, stepCount } = await swarm.ask({ input: 'My kettle leaks!' });
  assert.deepEqual(result.output, { product: 'kettle', urgency: 'high' });
  assert.equal(stepCount, 2);

  // The schema of an ask wins over the one of the agent.
  const schema = readSchemaFile(join(import.meta.dirname, 'urgency.schema.json'));
  const asked = await swarm.ask({ input: 'How urgent is it?', output: { schema } });
  assert.equal(asked.result.output, 'high');

  // An answer that never fits ends the turn with a code and the problems.
  const failed = await swarm.ask({ input: 'Hm.', output: { schema: { type: 'number' }, retries: 0 } });
  assert.equal(failed.result.error?.code, 'E_OUTPUT_SCHEMA');
  await swarm.stop();

  const shop = await startShop(stateRoot);
  assert.equal(await findProduct(shop, 'My kettle leaks!'), 'kettle');
  assert.equal(await findDays(shop, 'My kettle leaks!'), 1);
  await shop.stop();
} finally {
  await rm(stateRoot, { recursive: true, force: true });
}
