// The level of the judge that does not depend on how a change is written.
import { describe, expect, test } from 'bun:test';
import type { JudgedChange } from './judged-change.ts';
import { judgePlans } from './judge-plans.ts';

const tool = (name: string, more: object = {}) => ({ name, digest: '1', exports: [{ name: 'run' }], ...more });
const extension = (name: string, more: object = {}) => ({
  resource: { metadata: { name }, spec: {} },
  tier: 'agent',
  ...more,
});
const fresh = (more: object = {}) => extension('notes', { tier: 'innermost', ...more });
const resource = (kind: string, name: string) => ({ kind, name, identity: `${kind}/${name}` });

const agent = {
  agentName: 'host',
  modelRef: 'Model/m',
  tools: [tool('added'), tool('added', { package: 'p' })],
  extensions: [extension('guard'), extension('hooks', { tier: 'hook' })],
};
const swarm = { name: 'team', policy: { maxSteps: 1 }, agents: [agent] };
const [added, kept] = agent.tools;
const [guard, hooks] = agent.extensions;

/** The new tool is `clock` and the new extension is `notes`; an earlier changeset added the tool `added`. */
function judge(wanted: object, besideOld: readonly (readonly [string, string])[] = []): string[] {
  const known = [resource('Tool', 'added')];
  const change = {
    addedTools: ['added'],
    swarm: 'team',
    besideOld: new Map(besideOld),
    before: { plans: new Map([['team', swarm]]), resources: known },
    after: {
      plans: new Map([['team', wanted]]),
      resources: [...known, resource('Tool', 'clock'), resource('Extension', 'notes')],
    },
  };
  return [...judgePlans(change as unknown as JudgedChange)];
}

const withAgent = (changed: object) => ({ ...swarm, agents: [{ ...agent, ...changed }] });

describe('the plan of a swarm', () => {
  test('L-05 may have another prompt, other code of an added tool, new tools and new extensions', () => {
    const tools = [tool('added', { digest: '2' }), kept, tool('clock')];
    const extensions = [guard, fresh(), hooks];
    expect(judge(withAgent({ systemPrompt: 'Other.', tools, extensions }))).toEqual([]);
  });

  test.each<[string, object]>([
    ['another policy', { ...swarm, policy: { maxSteps: 2 } }],
    ['no agent', { ...swarm, agents: [] }],
    ['another model', withAgent({ modelRef: 'Model/other' })],
    ['another tool of a package', withAgent({ tools: [added, { ...kept, digest: '2' }] })],
    ['tools in another order', withAgent({ tools: [kept, added] })],
    ['a tool less', withAgent({ tools: [added] })],
    ['an existing tool', withAgent({ tools: [...agent.tools, tool('bash')] })],
    ['a new tool of a package', withAgent({ tools: [...agent.tools, tool('clock', { package: 'p' })] })],
    ['a new exclusive tool', withAgent({ tools: [...agent.tools, tool('clock', { exclusive: 'x' })] })],
    ['a new tool without exports', withAgent({ tools: [...agent.tools, tool('clock', { exports: [] })] })],
    [
      'a new tool with local effects',
      withAgent({ tools: [...agent.tools, tool('clock', { exports: [{ name: 'run', effects: 'local' }] })] }),
    ],
    ['an extension less', withAgent({ extensions: [hooks] })],
    ['a new extension before an existing one', withAgent({ extensions: [fresh(), guard, hooks] })],
    ['a new extension that is not innermost', withAgent({ extensions: [guard, hooks, extension('notes')] })],
    ['a new hook', withAgent({ extensions: [guard, hooks, fresh({ tier: 'hook' })] })],
    ['a new extension of a package', withAgent({ extensions: [guard, hooks, fresh({ package: 'p' })] })],
    ['a new extension with a keeper', withAgent({ extensions: [guard, hooks, fresh({ keeper: 'k' })] })],
    [
      'a new extension for v0.10',
      withAgent({
        extensions: [guard, hooks, { ...fresh(), resource: { metadata: { name: 'notes' }, spec: { compat: 'v010' } } }],
      }),
    ],
    [
      'an extension of another name',
      withAgent({ extensions: [guard, hooks, extension('other', { tier: 'innermost' })] }),
    ],
  ])('L-05 may not have %s', (_, wanted) => {
    expect(judge(wanted)).not.toEqual([]);
  });

  test('L-05 may not have a new extension beside one for v0.10', () => {
    const wanted = withAgent({ extensions: [guard, fresh(), hooks] });
    expect(judge(wanted, [['Agent/other', 'Extension/guard']])).toEqual([]);
    expect(judge(wanted, [['Agent/host', 'Extension/guard']])).not.toEqual([]);
  });
});
