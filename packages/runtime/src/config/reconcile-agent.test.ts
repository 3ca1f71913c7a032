import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import fc from 'fast-check';
import type { DeclaredAgent } from './declared-agent.ts';
import type { DeclaredExtension } from './declared-extension.ts';
import type { DeclaredTool } from './declared-tool.ts';
import { maskSecrets } from '../log/mask-secrets.ts';
import { extensionDigest } from './extension-digest.ts';
import { declarationDigest, filesToRefresh, identityOf, isReordered, reconcileAgent } from './reconcile-agent.ts';

function agent(more: Partial<DeclaredAgent> = {}): DeclaredAgent {
  return { agentName: 'a', models: { 'Model/m': { provider: 'scripted', model: 'm' } }, bundleFolder: '/b', ...more };
}

function extension(name: string, more: Partial<DeclaredExtension> = {}, config: JsonObject = {}): DeclaredExtension {
  const resource = {
    apiVersion: 'goondan.ai/v1',
    kind: 'Extension',
    metadata: { name },
    spec: { entry: `./${name}.ts`, config },
  } as const;
  return { resource, root: '/b', tier: 'agent', digest: '1', files: [`${name}.ts`], ...more };
}

function tool(name: string, more: Partial<DeclaredTool> = {}): DeclaredTool {
  return { name, exports: [], root: '/b', entry: `./${name}.ts`, digest: '1', files: [`${name}.ts`], ...more };
}

const withExtensions = (...extensions: DeclaredExtension[]) => agent({ extensions });
const withTools = (...tools: DeclaredTool[]) => agent({ tools });

const fates = (running: DeclaredAgent, wanted: DeclaredAgent) =>
  reconcileAgent(running, wanted).parts.map(({ identity, fate }) => `${identity} ${fate}`);

describe('the parts of an agent across a change', () => {
  test('L-01 reordering extensions and tools retains all of them', () => {
    const before = agent({ extensions: [extension('one'), extension('two')], tools: [tool('x'), tool('y')] });
    const after = agent({ extensions: [extension('two'), extension('one')], tools: [tool('y'), tool('x')] });
    expect(reconcileAgent(before, after)).toEqual({
      parts: ['Extension/two', 'Extension/one', 'Tool/y', 'Tool/x'].map((identity) => ({ identity, fate: 'retained' })),
    });
    expect(filesToRefresh(before, after)).toEqual([]);
    expect(isReordered(before, after)).toBe(true);
  });

  test('added, removed and updated parts are not another order', () => {
    const before = withExtensions(extension('one'), extension('two'), extension('three'));
    const after = withExtensions(extension('new'), extension('one', { digest: '2' }), extension('three'));
    expect(isReordered(before, after)).toBe(false);
  });

  test('L-01 a neighbour with another config, another prompt and a new tool leave a part as it is', () => {
    const before = agent({ systemPrompt: 'Be kind.', extensions: [extension('mcp'), extension('log')] });
    const after = agent({
      systemPrompt: 'Be brief.',
      extensions: [extension('log', {}, { level: 'debug' }), extension('mcp')],
      tools: [tool('x')],
    });
    expect(fates(before, after)).toEqual([
      'Extension/log updated',
      'Extension/mcp retained',
      'Tool/x added',
      'Prompt updated',
    ]);
  });

  test('L-02 the place of a keeper is no part of the declaration', () => {
    const one = extension('mcp', { keeper: { entry: './keep.ts' } });
    const other = extension('mcp', { keeper: { entry: './keep.ts', socket: '/run/k1.sock' } });
    expect(declarationDigest(one)).toBe(declarationDigest(other));
    expect(declarationDigest(one)).not.toBe(declarationDigest(extension('mcp', { keeper: { entry: './other.ts' } })));
  });

  test('L-01 the package counts in the identity', () => {
    const packaged = extension('log', { package: '@acme/log' });
    expect(identityOf(packaged)).toBe('Extension/log (@acme/log)');
    expect(fates(withExtensions(extension('log')), withExtensions(packaged))).toEqual([
      'Extension/log (@acme/log) added',
      'Extension/log removed',
    ]);
  });

  test.each([
    ['its code', extension('e', { digest: '2' })],
    ['its config', extension('e', {}, { a: 1 })],
    ['the config that an agent gives it', extension('e', { config: { a: 1 } })],
    ['its tier', extension('e', { tier: 'swarm' })],
  ])('L-01 an extension is updated by %s', (_what, changed) => {
    expect(fates(withExtensions(extension('e')), withExtensions(changed))).toEqual(['Extension/e updated']);
  });

  test('the list of files alone does not change a part', () => {
    expect(declarationDigest(extension('e'))).toBe(declarationDigest(extension('e', { files: [], lazy: true })));
  });

  test('L-01 fields of the agent are listed when they change', () => {
    const before = agent({ policy: { maxStepsPerTurn: 3 }, agentTools: true });
    const after = agent({
      models: { 'Model/m': { provider: 'scripted', model: 'other' }, 'Model/n': { provider: 'scripted', model: 'n' } },
      modelRef: 'Model/n',
      description: 'Helps.',
      mayAsk: ['b'],
    });
    expect(fates(before, after)).toEqual([
      'Description added',
      'Model/m updated',
      'Model/n added',
      'ModelConfig updated',
      'MayAsk added',
      'Tool/agents removed',
      'Policy removed',
    ]);
  });

  const hooks = (...list: JsonObject[]) => withExtensions(extension('hooks', { tier: 'hook' }, { hooks: list }));
  const notify = { id: 'notify', point: 'turn.post', action: { toolCall: { tool: 'chat__post' } } };
  const note = (text: string) => ({
    point: 'turn.pre',
    priority: 5,
    action: { toolCall: { tool: 'notes__add', args: { text } } },
  });

  test('L-01 a hook is known by its id, or else by point, priority and the tool of its action (003 §8.1)', () => {
    const changed = { ...notify, priority: 2 };
    const second = 'Hook/turn.pre:5:toolCall:notes__add';
    expect(fates(hooks(notify, note('one')), hooks(note('two'), changed))).toEqual([
      'Extension/hooks updated',
      `${second} updated`,
      'Hook/notify updated',
    ]);
    expect(fates(hooks(notify, note('one'), note('one')), hooks(note('one')))).toEqual([
      'Extension/hooks updated',
      `${second} retained`,
      'Hook/notify removed',
      `${second} (2) removed`,
    ]);
  });

  test('L-01 a hook with a command is known by its point, its priority and its program', () => {
    const checking = (option: string) => ({ point: 'turn.pre', action: { command: ['./check.sh', option] } });
    expect(fates(hooks(checking('-a')), hooks(checking('-b')))).toEqual([
      'Extension/hooks updated',
      'Hook/turn.pre:0:command:./check.sh updated',
    ]);
  });

  test('secrets do not count in the identity of a hook', () => {
    const starting = (program: string) => ({ point: 'turn.pre', action: { command: [program] } });
    const of = (secret: string) => ({ ...hooks(starting(`./${secret}.sh`)), secrets: [secret] });
    const [, fate] = fates(of('first-secret'), of('other-secret'));
    expect(fate).toEndWith(' updated');
  });
});

test('the digest of an extension follows its code and its config, and not its secrets', () => {
  const digest = (key: string, code = '1') =>
    extensionDigest(extension('e', { digest: code }, { key }), maskSecrets(['old-secret', 'new-secret']));
  expect(new Set([digest('old-secret'), digest('new-secret'), digest('a'), digest('a', '2')]).size).toBe(3);
});

describe('the reason to replace the process', () => {
  const packaged = (more: Partial<DeclaredExtension> = {}, config: JsonObject = {}) =>
    withExtensions(extension('e', { package: 'p', root: '/b/node_modules/p', ...more }, config));
  const exclusive = (name: string, more: Partial<DeclaredExtension> = {}) =>
    withExtensions(extension(name, { exclusive: true, ...more }));
  const files = ['e.ts', 'late.ts'];
  const lazy = (more: Partial<DeclaredExtension> = {}) => extension('e', { lazy: true, files, ...more });

  test.each([
    ['its environment has changed', agent(), agent({ environment: { A: '1' } })],
    ['its environment has changed', agent({ environment: { A: '1' } }), agent({ environment: { A: '2' } })],
    ['its isolation has changed', agent(), agent({ isolation: 'agent' })],
    ['its working folder has changed', agent(), agent({ workdir: '/w' })],
    ['the recording of its turns was switched on or off', agent(), agent({ policy: { trace: 'off' } })],
    ['the recording of its turns was switched on or off', agent({ policy: { trace: 'off' } }), agent()],
    ['the folder of its bundle has changed', agent(), agent({ bundleFolder: '/c' })],
    ['the lock file of its packages has changed', agent(), agent({ packages: '1' })],
    ['the code of Extension/e (p) has changed', packaged(), packaged({ digest: '2' })],
    ['Extension/e is exclusive and has changed', exclusive('e'), exclusive('e', { digest: '2' })],
    ['Extension/e is exclusive and has changed', withExtensions(extension('e')), exclusive('e')],
    ['Extension/e was exclusive and has changed', exclusive('e'), withExtensions(extension('e'))],
    ['the code of Extension/e (p) has changed', packaged(), packaged({ root: '/c/node_modules/p' })],
    [
      'Extension/f is exclusive and has changed',
      exclusive('e'),
      agent({
        extensions: [
          { ...extension('f', { exclusive: true }), resource: { ...extension('e').resource, metadata: { name: 'f' } } },
        ],
      }),
    ],
    [
      'Extension/e imports files while it runs',
      withExtensions(lazy()),
      withExtensions(extension('e', { digest: '2' })),
    ],
    [
      'Tool/t imports files while it runs',
      withTools(tool('t', { lazy: true })),
      withTools(tool('t', { lazy: true, config: { a: 1 } })),
    ],
    [
      'Extension/e imports files while it runs',
      withExtensions(lazy()),
      withTools(tool('t', { files: ['late.ts', 't.ts'] })),
    ],
    [
      'its working folder has changed, and Tool/t is exclusive and has changed',
      withTools(tool('t', { exclusive: true })),
      agent({ workdir: '/w', tools: [tool('t', { exclusive: true, config: { a: 1 } })] }),
    ],
  ])('%s', (reason, before, after) => {
    expect(reconcileAgent(before, after).replaces).toBe(reason);
  });

  test.each<[string, DeclaredAgent, DeclaredAgent]>([
    ['the config of a part from a package', packaged(), packaged({}, { a: 1 })],
    ['an exclusive part that stays', exclusive('e'), { ...exclusive('e'), systemPrompt: 'x' }],
    ['an exclusive part that is removed', exclusive('e'), agent()],
    ['an exclusive part that is added', agent(), exclusive('e')],
    [
      'a part that imports files while it runs and stays',
      withExtensions(lazy()),
      agent({ extensions: [lazy()], tools: [tool('t', { files: ['late.ts', 't.ts'] })] }),
    ],
    ['such a part that is removed', withExtensions(lazy()), withTools(tool('t'))],
    ['such a part that is added', agent(), withExtensions(lazy())],
    [
      'a part that imports files while it runs only from now on',
      withExtensions(extension('e', { files })),
      withExtensions(lazy({ digest: '2' })),
    ],
    ['an environment without variables', agent(), agent({ environment: {} })],
  ])('there is none for %s', (_what, before, after) => {
    expect(reconcileAgent(before, after).replaces).toBeUndefined();
  });
});

describe('the files to import anew', () => {
  test('are those of changed and added parts, but not those of retained parts', () => {
    const one = extension('one', { files: ['one.ts', 'shared.ts'] });
    const two = extension('two', { files: ['lib/two.ts', 'shared.ts', 'two.ts'] });
    const packaged = extension('three', { package: 'p', root: '/p' });
    const { files: _, ...withoutFiles } = packaged;
    const before = withExtensions(one, two);
    const after = agent({ extensions: [{ ...two, digest: '2' }, one, withoutFiles], tools: [tool('x')] });
    expect(filesToRefresh(before, after)).toEqual(['/b/lib/two.ts', '/b/two.ts', '/b/x.ts']);
  });
});

describe('for any two plans of an agent', () => {
  const names = ['a', 'b', 'c', 'd', 'e'] as const;
  const parts = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom(...names),
      isTool: fc.boolean(),
      config: fc.constantFrom<number>(1, 2),
      package: fc.constantFrom(undefined, 'p'),
    }),
    { selector: ({ name, isTool, package: from }) => `${name} ${isTool} ${from}` },
  );
  type Parts = typeof parts extends fc.Arbitrary<infer Value> ? Value : never;
  const toAgent = (list: Parts) =>
    agent({
      extensions: list
        .filter(({ isTool }) => !isTool)
        .map((part) => ({ ...extension(part.name, {}, { c: part.config }), ...from(part) })),
      tools: list
        .filter(({ isTool }) => isTool)
        .map((part) => ({ ...tool(part.name, { config: { c: part.config } }), ...from(part) })),
    });
  const from = (part: Parts[number]) => (part.package === undefined ? {} : { package: part.package });
  const partsOf = ({ extensions = [], tools = [] }: DeclaredAgent) => [...extensions, ...tools];
  const named = (running: DeclaredAgent, wanted: DeclaredAgent, fate: string) =>
    reconcileAgent(running, wanted)
      .parts.filter((part) => part.fate === fate)
      .map(({ identity }) => identity)
      .toSorted();

  test('L-01 another order alone retains every part', () => {
    const shuffled = parts.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([list, other]) => {
        const wanted = toAgent(other);
        expect(reconcileAgent(toAgent(list), wanted)).toEqual({
          parts: partsOf(wanted).map((part) => ({ identity: identityOf(part), fate: 'retained' })),
        });
        expect(filesToRefresh(toAgent(list), wanted)).toEqual([]);
      }),
    );
  });

  test('L-01 each part has one fate, and the parts that one direction adds are those that the other removes', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const [running, wanted] = [toAgent(one), toAgent(other)];
        const all = new Set([...partsOf(running), ...partsOf(wanted)].map(identityOf));
        const listed = reconcileAgent(running, wanted).parts.map(({ identity }) => identity);
        expect(listed.toSorted()).toEqual([...all].toSorted());
        for (const [fate, back] of [
          ['added', 'removed'],
          ['removed', 'added'],
          ['updated', 'updated'],
        ] as const) {
          expect(named(running, wanted, fate)).toEqual(named(wanted, running, back));
        }
        const before = new Map(partsOf(running).map((part) => [identityOf(part), declarationDigest(part)]));
        const retained = partsOf(wanted).filter((part) => before.get(identityOf(part)) === declarationDigest(part));
        expect(named(running, wanted, 'retained')).toEqual(retained.map(identityOf).toSorted());
      }),
    );
  });

  test('L-01 a changed config updates exactly that part', () => {
    const chosen = parts
      .filter((list) => list.length > 0)
      .chain((list) => fc.tuple(fc.constant(list), fc.nat({ max: list.length - 1 })));
    fc.assert(
      fc.property(chosen, ([list, index]) => {
        const wanted = list.map((part, at) => (at === index ? { ...part, config: 3 } : part));
        const [changed] = partsOf(toAgent(wanted.slice(index, index + 1)));
        expect(named(toAgent(list), toAgent(wanted), 'updated')).toEqual(
          changed === undefined ? [] : [identityOf(changed)],
        );
        expect(named(toAgent(list), toAgent(wanted), 'retained')).toHaveLength(list.length - 1);
      }),
    );
  });
});
