import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type QuestionReply, type QuestionSummary, startSwarm } from '@goondan/runtime';
import { textOf } from '@goondan/types';

const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-questions-'));
const swarm = await startSwarm({ bundleFolder: join(import.meta.dir, 'bakery'), stateRoot });

// A tool asks with a form. An answer that does not fit is refused, and the question stays open.
const first = swarm.ask({ input: 'Which cake?' });
const question = await nextQuestion();
const wrong = answer(question, { decision: 'approved', content: { cake: 'apple' } });
await assert.rejects(wrong, { code: 'E_QUESTION_REPLY' });
await answer(question, { decision: 'approved', content: { cake: 'chocolate', candles: 3 } });
assert.equal(textOf((await first).result.responseMessage), 'You want: chocolate');

// A person can decline a question.
assert.equal(await askAndAnswer('Which cake?', { decision: 'denied', note: 'No cake today.' }), 'You want: nothing');

// A tool call runs with the arguments that the person edited, and the model reads who edited them.
const args = { cake: 'lemon', number: 1 };
assert.match(await askAndAnswer('Bake it', { decision: 'approved', args }), /ann[^]*1 lemon|1 lemon[^]*ann/);

// The person allows the tool in this conversation: the next call is not asked about, until that is revoked.
assert.equal(await askAndAnswer('Bake it', { decision: 'approved', always: 'tool' }), 'Baked: 2 lemon');
assert.equal(textOf((await swarm.ask({ input: 'Bake it' })).result.responseMessage), 'Baked: 2 lemon');
const [grant] = await swarm.grants();
assert.equal(grant?.by, 'ann');
await swarm.revoke({ id: grant.id, by: 'ann' });
assert.equal(await askAndAnswer('Bake it', { decision: 'approved' }), 'Baked: 2 lemon');

await swarm.stop();
await rm(stateRoot, { recursive: true, force: true });

async function askAndAnswer(input: string, reply: Omit<QuestionReply, 'id' | 'by'>): Promise<string> {
  const asked = swarm.ask({ input });
  await answer(await nextQuestion(), reply);
  return textOf((await asked).result.responseMessage);
}

function answer({ id, digest }: QuestionSummary, reply: Omit<QuestionReply, 'id' | 'by'>): Promise<void> {
  return swarm.answer({ id, digest, by: 'ann', ...reply });
}

async function nextQuestion(): Promise<QuestionSummary> {
  for (;;) {
    const [next] = await swarm.questions();
    if (next !== undefined) return next;
    await new Promise((resolve) => void setTimeout(resolve, 20));
  }
}
