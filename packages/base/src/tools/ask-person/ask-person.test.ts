import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { JsonObject, PersonRequest } from '@goondan/types';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { type Answer, fakeApprover, scriptedAgent } from '@goondan/runtime/testing';
import { handlers } from './index.ts';

const folder = join(import.meta.dir, '..', '..', '..', 'examples', 'ask-person');

/** Runs the agent of the example in this process, with the tool as tools.yaml declares it. `args`: those of its call. */
async function planner(answer: Answer, args?: JsonObject) {
  const loaded = await loadBundle(folder, { environment: {} });
  const [agent] = resolveSwarm(loaded, { environment: {}, workdir: folder }).plan.agents;
  const { modelRef: _, ...plan } = agent ?? {};
  const approver = fakeApprover(answer);
  if (args === undefined) return { approver, agent: await scriptedAgent({ ...agent, approver }) };
  const script = [{ when: 'go', call: { tool: 'ask-person__ask', args } }, { say: '{{result}}' }];
  return { approver, agent: await scriptedAgent({ ...plan, script, approver }) };
}

describe('ask-person', () => {
  test('N-04 asks for a text, and gives the answer with the name of the person', async () => {
    const { agent, approver } = await planner(() => ({
      decision: 'approved',
      by: 'ana',
      content: { answer: 'Summer' },
      note: 'I like it.',
    }));
    expect((await agent.say('Which name?')).text).toBe('answered by ana: Summer I like it.');
    expect(approver.questions).toMatchObject([
      {
        kind: 'form',
        toolName: 'ask-person__ask',
        reason: 'What should the trip be called?',
        expiresInMs: 86_400_000,
        schema: { properties: { answer: { type: 'string' } }, required: ['answer'] },
      },
    ]);
  });

  test('N-04 waits as long as its config says', async () => {
    const asked: PersonRequest[] = [];
    const person = { ask: async (request: PersonRequest) => (asked.push(request), { outcome: 'expired' as const }) };
    const result = await handlers.ask({ config: { expiresInMinutes: 5 }, person } as never, { question: 'Which?' });
    expect(asked.map(({ expiresInMs }) => expiresInMs)).toEqual([300_000]);
    expect(result).toMatchObject({ outcome: 'expired', notice: 'Nobody answered within 5 minutes.' });
  });

  test('asks for a choice, and for a form', async () => {
    const { agent, approver } = await planner(({ reason }) => {
      const content = reason.startsWith('Where') ? { answer: 'Oslo' } : { day: '2026-05-01', people: 2 };
      return { decision: 'approved', by: 'ana', content };
    });
    expect((await agent.say('And where?')).text).toBe('answered by ana: Oslo ');
    expect((await agent.say('Please book.')).text).toBe('answered by ana: {"day":"2026-05-01","people":2} ');
    expect(approver.questions.map(({ schema }) => Object.keys(schema?.properties ?? {}))).toEqual([
      ['answer'],
      ['day', 'people', 'insured'],
    ]);
  });

  test('says that a person declined, and that nobody answered', async () => {
    const declined = await planner(() => ({ decision: 'denied', by: 'ana', note: 'Guess.' }), { question: 'Which?' });
    expect(JSON.parse((await declined.agent.say('go')).text)).toEqual({
      outcome: 'declined',
      notice: 'The person does not want to answer.',
      by: 'ana',
      note: 'Guess.',
    });
    const expired = await planner(() => ({ decision: 'expired' }), { question: 'Which?' });
    expect(JSON.parse((await expired.agent.say('go')).text)).toEqual({
      outcome: 'expired',
      notice: 'Nobody answered within 1440 minutes.',
    });
  });

  test.each<[JsonObject, string]>([
    [{}, 'question'],
    [{ question: '' }, 'question'],
    [{ question: 'Which?', choices: ['a'], fields: [{ name: 'x', type: 'text' }] }, 'has choices and fields'],
    [{ question: 'Which?', fields: [{ name: 'not a name', type: 'text' }] }, 'fields'],
    [{ question: 'Which?', fields: [{ name: 'x', type: 'color' }] }, 'fields'],
  ])('asks nobody with the arguments %j, and names the mistake', async (args, problem) => {
    const { agent, approver } = await planner(() => ({ decision: 'approved' }), args);
    const { text } = await agent.say('go');
    expect(text).toContain('E_TOOL_ARGUMENTS');
    expect(text).toContain(problem);
    expect(approver.questions).toEqual([]);
  });
});
