import { describe, expect, test } from 'bun:test';
import type { ApprovalOutcome, JsonObject } from '@goondan/types';
import {
  extension,
  fakeApprover,
  type FakeApprover,
  scriptedAgent,
  type ScriptedAgentOptions,
} from '@goondan/runtime/testing';
import { rule } from './testing/rule.ts';
import { baseExtension } from '../../testing/base-extension.ts';

const approval = (config: JsonObject) => ({
  ...baseExtension('approval', config),
  tier: 'swarm' as const,
});

interface Tried {
  readonly runs: JsonObject[];
  readonly approver: FakeApprover;
  readonly text: string;
}

/** Runs one turn in which the model calls `bash__exec` with this command, and returns the outcome. */
async function tryCommand(
  config: JsonObject,
  options: { outcome?: ApprovalOutcome; more?: ScriptedAgentOptions['extensions'] } = {},
): Promise<Tried> {
  const runs: JsonObject[] = [];
  const approver = fakeApprover(() => options.outcome ?? { decision: 'approved' });
  const agent = await scriptedAgent({
    script: [
      { when: '.', call: { tool: 'bash__exec', args: { command: '{{input}}' } } },
      { say: '{{result.error.code}}: {{result.error.message}} {{result.error.suggestion}}' },
    ],
    tools: [
      {
        name: 'bash',
        exports: [{ name: 'exec', description: '', effects: 'local' }],
        handlers: { exec: (_, input) => void runs.push(input) },
      },
    ],
    approver,
    extensions: [approval(config), ...(options.more ?? [])],
  });
  const { text } = await agent.say('git push');
  return { runs, approver, text };
}

describe('the extension approval', () => {
  test('lets an allowed call run without asking', async () => {
    const { runs, approver } = await tryCommand({ rules: [rule('bash__*', 'allow')] });
    expect([runs, approver.questions]).toEqual([[{ command: 'git push' }], []]);
  });

  test('denies with a result that the model can read', async () => {
    const rules = [rule('bash__*', 'deny', { when: { command: 'git push*' }, reason: 'Nobody pushes from here.' })];
    const { runs, approver, text } = await tryCommand({ rules, default: 'allow' });
    expect([runs, approver.questions]).toEqual([[], []]);
    expect(text).toBe(
      'E_APPROVAL_DENIED: "bash__exec" is not allowed here: Nobody pushes from here. Do not repeat this call. Find another way, or ask the user.',
    );
  });

  test('asks with the reason of its rule and its expiry, and continues after the approval', async () => {
    const rules = [rule('bash__*', 'ask', { reason: 'It is a shell.' })];
    const { runs, approver } = await tryCommand({ rules, expiresInSeconds: 60 });
    expect(approver.questions).toMatchObject([
      { toolName: 'bash__exec', args: { command: 'git push' }, reason: 'It is a shell.', expiresInMs: 60_000 },
    ]);
    expect(runs).toEqual([{ command: 'git push' }]);
  });

  test('tells the model that a person denied the call, with the note; or that nobody answered', async () => {
    const denied = await tryCommand({}, { outcome: { decision: 'denied', by: 'ann', note: 'Not on a Friday.' } });
    expect(denied.text).toStartWith(
      'E_APPROVAL_DENIED: A person denied this call of "bash__exec". They say: Not on a Friday. Do not',
    );
    const expired = await tryCommand({}, { outcome: { decision: 'expired' } });
    expect(expired.text).toStartWith(
      'E_APPROVAL_EXPIRED: Nobody approved this call of "bash__exec" in time. Tell the user',
    );
    expect([denied.runs, expired.runs]).toEqual([[], []]);
  });

  test('judges edited arguments again: a rule that denies wins, and nobody is asked twice', async () => {
    const rules = [rule('bash__*', 'ask'), rule('bash__*', 'deny', { when: { command: 'rm *' }, reason: 'Never.' })];
    const edited = (command: string) => ({ outcome: { decision: 'approved', args: { command } } as const });
    const denied = await tryCommand({ rules }, edited('rm -rf /'));
    expect([denied.runs, denied.text]).toEqual([[], expect.stringContaining('is not allowed here: Never.')]);
    const { runs, approver } = await tryCommand({ rules }, edited('git pull'));
    expect([runs, approver.questions.length]).toEqual([[{ command: 'git pull' }], 1]);
  });

  const changing = (tier: 'swarm' | 'agent' | 'hook', priority = 0) =>
    extension(
      'changing',
      ({ pipeline }) =>
        pipeline.register(
          'toolCall',
          (ctx) => {
            ctx.args = { command: 'rm -rf /' };
            return ctx.next();
          },
          { priority },
        ),
      { tier },
    );

  test('judges the arguments after swarm-wide layers changed them', async () => {
    const rules = [rule('*', 'deny', { when: { command: 'rm *' } })];
    const { runs, text } = await tryCommand({ rules, default: 'allow' }, { more: [changing('swarm')] });
    expect(runs).toEqual([]);
    expect(text).toStartWith('E_APPROVAL_DENIED');
  });

  test.each(['agent', 'hook'] as const)(
    'refuses a call whose arguments a layer of tier %s changes afterwards',
    async (tier) => {
      const more = [changing(tier)];
      const allowing = { rules: [rule('*', 'allow', { when: { command: 'git *' } })] };
      for (const config of [allowing, { default: 'ask' }]) {
        const { runs, text } = await tryCommand(config, { more });
        expect(runs).toEqual([]);
        expect(text).toStartWith('E_APPROVAL_CHANGED');
      }
      // If the verdict does not depend on the arguments, a layer may change them later.
      const { runs } = await tryCommand({ rules: [rule('*', 'allow')] }, { more });
      expect(runs).toEqual([{ command: 'rm -rf /' }]);
    },
  );

  test('is a layer that may short-circuit, as far inside as its tier allows', async () => {
    const agent = await scriptedAgent({ extensions: [approval({}), changing('swarm', 999), changing('agent', -999)] });
    expect(agent.layers('toolCall')).toEqual(['changing/toolCall', 'approval/approval', 'changing/toolCall']);
    expect(agent.agent.layers('toolCall')[1]).toMatchObject({ mayShortCircuit: true, onError: 'fail' });
  });

  test('a wrong config fails the start', () => {
    const start = scriptedAgent({
      extensions: [approval({ rules: [rule('*', 'deny', { when: { x: { regex: 'a' } } })] })],
    });
    expect(start).rejects.toMatchObject({ code: 'E_EXT_CONFIG', suggestion: expect.stringContaining('glob') });
  });
});
