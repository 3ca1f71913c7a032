import { describe, expect, test } from 'bun:test';
import type { JsonValue, PersonApi, PersonRequest } from '@goondan/types';
import type { QuestionOutcome } from '../../questions/question-record.ts';
import {
  extension,
  type FakeApprover,
  fakeApprover,
  manualClock,
  type ScriptedAgentOptions,
  scriptedAgent,
} from '../../testing/index.ts';
import { afterNext } from '../../testing/one-layer.ts';
import { silentApprover } from '../../testing/fake-approver.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const form = { type: 'object', properties: { branch: { type: 'string' } }, required: ['branch'] };
const request: PersonRequest = { reason: 'Which branch?', form };
const script = [
  { when: 'go', call: { tool: 'person__ask' } },
  { afterTool: 'person__ask', say: '{{result.output}} {{result.error.code}}' },
];

/** Declares a tool with one export that asks a person. */
function asking(act: (person: PersonApi) => Promise<JsonValue | void>, idempotent = true): ToolDeclaration {
  return {
    name: 'person',
    exports: [{ name: 'ask', description: '', effects: 'external', idempotent }],
    handlers: { ask: ({ person }) => act(person) },
  };
}

const start = (tool: ToolDeclaration, options: Partial<ScriptedAgentOptions>) =>
  scriptedAgent({ script, tools: [tool], ...options });

/** Runs a tool that asks a person, and returns the replies or errors that it got. */
async function ask(wanted: PersonRequest, approver: FakeApprover, more: Partial<ScriptedAgentOptions> = {}) {
  const replies: unknown[] = [];
  const tool = asking(async (person) => void replies.push(await person.ask(wanted).catch((error: unknown) => error)));
  const agent = await start(tool, { approver, ...more });
  await agent.say('go', { event: { id: 'same' } });
  return replies;
}

describe('a tool that asks a person', () => {
  test('N-04 shows a form, and gets the filled form with the name of the person and their door', async () => {
    const content = { branch: 'main' };
    const approver = fakeApprover(() => ({ decision: 'approved', by: 'ann', via: 'chat', content }));
    expect(await ask({ ...request, server: 'git' }, approver)).toEqual([
      { outcome: 'answered', by: 'ann', via: 'chat', content },
    ]);
    expect(approver.questions).toEqual([
      {
        ...{ key: '0/call/call_1/person/approval/0', turnId: 'turn-same', toolCallId: 'call_1' },
        ...{ toolName: 'person__ask', kind: 'form', askedBy: { server: 'git' }, schema: form, args: {} },
        ...{ reason: 'Which branch?', expiresInMs: 86_400_000 },
      },
    ]);
    expect(approver.given.size).toBe(0);
  });

  test('N-04 withdraws a question that needs no answer any more, and goes on', async () => {
    const approver = silentApprover();
    const finished = new AbortController();
    const agent = await start(
      asking(async (person) => {
        const question = person.ask({ ...request, signal: finished.signal });
        return { output: String(await question.catch((error: unknown) => error)) };
      }),
      { approver },
    );
    const turn = agent.say('go');
    const asked = await approver.asked;
    finished.abort('The page is finished.');
    expect((await turn).text).toBe('The page is finished. ');
    expect(asked.aborted).toBe(true);
  });

  test.each([
    ['denied', 'declined'],
    ['expired', 'expired'],
  ] as const)('hears that a question was %s', async (decision, outcome) => {
    const approver = fakeApprover(() => ({ decision, by: 'ann', note: 'No.' }));
    const page = { reason: 'Sign in.', url: 'https://example.com/in' };
    expect(await ask(page, approver)).toEqual([{ outcome, by: 'ann', note: 'No.' }]);
    expect(approver.questions).toMatchObject([{ kind: 'page', url: page.url }]);
  });

  test('N-04 shows the host of a page in ASCII, and nothing of its address that cannot be seen', async () => {
    const approver = fakeApprover(() => ({ decision: 'approved' }));
    // The first letter of the host is Cyrillic.
    const page = { reason: 'Sign in.', url: 'https://\u0430pple.example/\u202ein\n' };
    await ask(page, approver);
    expect(approver.questions).toMatchObject([{ url: 'https://xn--pple-43d.example/%E2%80%AEin' }]);
  });

  test.each<[unknown, string]>([
    [{ form }, 'reason is not a text'],
    [{ reason: 'x' }, 'it needs a form or a url, and not both'],
    [{ reason: 'x', form, url: 'https://a.b' }, 'it needs a form or a url, and not both'],
    [{ reason: 'x', url: 'http://a.b' }, 'its address must begin with https:'],
    [{ reason: 'x', form: { type: 'string' } }, 'its form must have type object'],
    [{ reason: 'x', form, server: '' }, 'server is not a name'],
    [{ reason: 'x', form, server: 'x'.repeat(201) }, 'server is not a name'],
  ])('asks nobody with a wrong request: %j', async (wrong, problem) => {
    const approver = fakeApprover(() => ({ decision: 'approved' }));
    expect(await ask(wrong as PersonRequest, approver)).toMatchObject([
      { code: 'E_APPROVAL_REQUEST', message: expect.stringContaining(problem) },
    ]);
    expect(approver.questions).toEqual([]);
  });

  test('N-04 ends its question with the call, and asks nobody afterwards', async () => {
    const approver = silentApprover();
    const kept: PersonApi[] = [];
    const late: unknown[] = [];
    const later = afterNext('later', 'step', async () =>
      late.push(await kept[0]?.ask(request).catch((error: unknown) => error)),
    );
    const agent = await start(
      asking(async (person) => {
        kept.push(person);
        void person.ask(request);
        await approver.asked;
      }),
      { approver, extensions: [later] },
    );
    await agent.say('go');
    expect((await approver.asked).aborted).toBe(true);
    expect([late[0], approver.questions.length]).toEqual([expect.objectContaining({ code: 'E_APPROVAL_DENIED' }), 1]);
  });

  test('N-04 waits longer than its deadline', async () => {
    const clock = manualClock();
    const answer = Promise.withResolvers<QuestionOutcome>();
    const agent = await start(
      asking(async (person) => ({ output: (await person.ask(request)).outcome })),
      { approver: fakeApprover(() => answer.promise), clock, policy: { toolTimeoutMs: 1_000, turnTimeoutMs: 5_000 } },
    );
    const turn = agent.say('go');
    for (let hours = 0; hours < 24; hours += 1) await clock.advance(3_600_000);
    answer.resolve({ decision: 'approved', content: { branch: 'main' } });
    await clock.advance(10);
    expect((await turn).text).toBe('answered ');
  });

  test('N-04 of an extension asks in the name of the extension', async () => {
    const approver = fakeApprover(() => ({ decision: 'denied' }));
    const git = extension('git', ({ tools }) =>
      tools.register({ name: 'person__ask', description: '', parameters: {} }, async ({ person }) => {
        await person.ask({ ...request, server: 'hub' });
        return null;
      }),
    );
    const agent = await scriptedAgent({ script, extensions: [git], approver });
    await agent.say('go');
    expect(approver.questions).toMatchObject([{ askedBy: { extension: 'git', server: 'hub' } }]);
  });

  test('N-04 is asked once: a handler that runs again after a crash gets the recorded answer', async () => {
    const store = memoryStore();
    const approver = fakeApprover(() => ({ decision: 'approved', content: { branch: 'main' } }));
    const asked = Promise.withResolvers<void>();
    const first = await start(
      asking(async (person) => {
        await person.ask(request);
        asked.resolve();
        await new Promise(() => undefined);
      }),
      { approver, store },
    );
    // This turn never ends, as if its process were dead.
    void first.say('go', { event: { id: 'same' } }).catch(() => undefined);
    await asked.promise;
    const again = fakeApprover(() => {
      throw new Error('asked again');
    });
    expect(await ask(request, again, { store })).toEqual([{ outcome: 'answered', content: { branch: 'main' } }]);
    expect(again.questions).toEqual([]);
  });
});
