// Tests agents that change the bundle of their running swarm, with real processes, the tool `bundle` and a scripted model.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from '@goondan/types';
import { connectSwarm } from './control/connect-swarm.ts';
import type { Swarm } from './control/swarm.ts';
import type { QuestionSummary } from './questions/question-record.ts';
import type { LogLine } from './ports/log-line.ts';
import { startSwarm } from './start-swarm.ts';
import { openChangesets } from './workspace/changesets/open-changesets.ts';
import { type TemporaryBundle, temporaryBundle } from './testing/temporary-bundle.ts';
import { until } from '../../../test/until.ts';

setDefaultTimeout(60_000);

const dice = 'export const handlers = { roll: () => ({ value: 4 }) };\n';
const learner = (tools: string) =>
  `apiVersion: goondan.ai/v1\nkind: Agent\nmetadata: { name: learner }\nspec: { modelConfig: { modelRef: Model/main }, prompt: { system: Learn. }, tools: [${tools}] }\n`;
const spoiler = (extensions: string) =>
  `apiVersion: goondan.ai/v1\nkind: Agent\nmetadata: { name: spoiler }\nspec: { modelConfig: { modelRef: Model/spoiler }, prompt: { system: Spoil. }, tools: [Tool/bundle], extensions: [${extensions}] }\n`;
const extension = (name: string, spec: string) =>
  `---\napiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: ${name} }\nspec: { ${spec} }\n`;
const guard = extension('guard', 'entry: ./guard.ts');
const diceTool =
  '---\napiVersion: goondan.ai/v1\nkind: Tool\nmetadata: { name: dice }\nspec: { entry: ./tools/dice.ts, exports: [{ name: roll, description: Rolls a die. }] }\n';

const write = (path: string, content: string) => ({
  tool: 'bundle__write',
  args: { changesetId: '{{result.changesetId}}', path, content },
});
const commit = { tool: 'bundle__commit', args: { changesetId: '{{result.changesetId}}' } };
const modelOf = (name: string, rules: readonly object[]) => ({
  apiVersion: 'goondan.ai/v1',
  kind: 'Model',
  metadata: { name },
  spec: { provider: 'scripted', model: name, options: { script: rules } },
});

describe('an agent that changes its own swarm', () => {
  let bundle: TemporaryBundle;
  let stateRoot: string;
  let swarm: Swarm;
  const lines: LogLine[] = [];

  beforeAll(async () => {
    const rules = [
      { when: 'learn', call: { tool: 'bundle__open' } },
      { when: 'roll', call: { tool: 'dice__roll' } },
      {
        afterTool: 'bundle__open',
        calls: [write('tools/dice.ts', dice), write('learner.yaml', `${learner('Tool/bundle, Tool/dice')}${diceTool}`)],
      },
      { afterTool: 'bundle__write', call: commit },
      // The next step uses the new tool.
      { afterTool: 'bundle__commit', call: { tool: 'dice__roll' } },
      { afterTool: 'dice__roll', say: 'I rolled {{result.value}}.{{result.error.message}}' },
    ];
    const spoils = [
      { when: 'spoil', call: { tool: 'bundle__open' } },
      { when: '^commit (?<id>.+)$', call: { tool: 'bundle__commit', args: { changesetId: '{{id}}' } } },
      { afterTool: 'bundle__open', calls: [write('tools/dice.ts', 'throw new Error("spoiled");\n')] },
      { afterTool: 'bundle__write', call: commit },
      {
        afterTool: 'bundle__commit',
        say: '{{result.status}} {{result.reason}}{{result.error.code}}: {{result.violations.0}}{{result.error.message}}',
      },
    ];
    const documents = [
      modelOf('main', rules),
      modelOf('spoiler', spoils),
      {
        apiVersion: 'goondan.ai/v1',
        kind: 'Swarm',
        metadata: { name: 'school' },
        spec: {
          entryAgent: 'Agent/learner',
          agents: ['Agent/learner', 'Agent/spoiler'],
          workspace: 'school',
          policy: { changes: { allow: ['*er.yaml', 'tools/**'] } },
        },
      },
    ];
    bundle = temporaryBundle({
      'goondan.yaml': documents.map((each) => JSON.stringify(each)).join('\n---\n'),
      'learner.yaml': learner('Tool/bundle'),
      'spoiler.yaml': spoiler('Extension/guard') + guard,
      'guard.ts': 'export const register = () => {};\n',
    });
    stateRoot = mkdtempSync(join(tmpdir(), 'goondan-changesets-'));
    await interruptCommit(`# by a changeset\n${learner('Tool/bundle')}`);
    swarm = await startSwarm({ bundleFolder: bundle.folder, stateRoot, onLog: (line) => void lines.push(line) });
  });
  afterAll(async () => {
    await swarm.stop({ graceMs: 0 });
    bundle[Symbol.dispose]();
    rmSync(stateRoot, { recursive: true, force: true });
  });

  /** Leaves a commit as a killed process does: its files are in place, and its record does not say so. */
  const interruptCommit = async (content: string) => {
    const store = openChangesets({ stateRoot, bundleFolder: bundle.folder, flock: false });
    const { id } = await store.open({ swarm: 'school', agent: 'learner', instanceKey: 'default' });
    await store.write(id, 'learner.yaml', content);
    const { edits, digest } = await store.edits(id);
    const isApplied = Promise.withResolvers<void>();
    void store.apply(id, edits, { digest, baseRef: 'a', newRef: 'b', addedTools: [] }, () => {
      isApplied.resolve();
      return new Promise(() => undefined);
    });
    await isApplied.promise;
    expect((await store.get(id)).state).toBe('applying');
  };

  const read = (path: string) => readFileSync(join(bundle.folder, path), 'utf8');
  const ask = async (agent: string, input: string) =>
    textOf((await swarm.ask({ agent, input })).result.responseMessage);
  /** Waits for the question about a change and answers it over the control socket, as `gdn approve` does. */
  const approve = async (): Promise<QuestionSummary> => {
    const person = await connectSwarm({ stateRoot, workspaceId: 'school' });
    const question = await until(async () => (await person.questions())[0]);
    await person.answer({ id: question.id, by: 'ann', decision: 'approved' });
    return question;
  };

  test('L-05 starts with the whole of an interrupted commit, and the log says so', async () => {
    expect(lines.find(({ event }) => event === 'changeset.recovered')?.message).toContain(
      'is committed, and the bundle has its new files',
    );
    expect(read('learner.yaml')).toStartWith('# by a changeset\n');
    const [record] = await openChangesets({ stateRoot, bundleFolder: bundle.folder }).list();
    expect(record?.state).toBe('committed');
  });

  test('L-05 gives itself a tool, a person approves the diff, and the next step uses the tool', async () => {
    const answer = ask('learner', 'learn');
    const question = await approve();
    expect(question).toMatchObject({ kind: 'change', agent: 'learner', toolName: 'bundle__commit' });
    expect(JSON.stringify(question.args)).toContain('+export const handlers');
    expect(await answer).toBe('I rolled 4.');
    expect(read('tools/dice.ts')).toBe(dice);
    expect(read('learner.yaml')).toContain('Tool/dice');
    expect(lines.find(({ event }) => event === 'changeset.committed')).toMatchObject({
      agent: 'learner',
      data: { files: ['learner.yaml', 'tools/dice.ts'], by: 'ann' },
    });
    expect((await swarm.status()).changes).toMatchObject([
      { agents: [{ agent: 'learner' }], changeset: { agent: 'learner' } },
    ]);
    // The bundle is as the swarm runs it, so nothing is left to reload.
    expect((await swarm.reload()).changed).toEqual([]);
    expect(await ask('learner', 'roll')).toBe('I rolled 4.');
  });

  test('L-05 cannot put code into the bundle that throws on trial, and the swarm goes on', async () => {
    const answer = ask('spoiler', 'spoil');
    await approve();
    expect(await answer).toMatch(
      /^error E_RELOAD_FAILED: tools\/dice\.ts:1:11: Agent\/learner does not start with the changed bundle\. .*spoiled$/,
    );
    expect(read('tools/dice.ts')).toBe(dice);
    expect(await ask('learner', 'roll')).toBe('I rolled 4.');
    expect(lines.filter(({ event }) => event === 'changeset.failed')).toMatchObject([
      { level: 'error', agent: 'spoiler' },
    ]);
    const trials = readdirSync(join(stateRoot, 'changesets'), { recursive: true }).filter((path) =>
      String(path).includes('/trials/'),
    );
    expect(trials).toEqual([]);
    expect(existsSync(join(bundle.folder, 'tools'))).toBe(true);
  });

  test('L-05 cannot give itself an extension whose register throws', async () => {
    const store = openChangesets({ stateRoot, bundleFolder: bundle.folder });
    const { id } = await store.open({ swarm: 'school', agent: 'spoiler', instanceKey: 'default' });
    const before = read('spoiler.yaml');
    await store.write(id, 'tools/extra.ts', 'export const register = () => { throw new Error("spoiled"); };\n');
    const extra = extension('extra', 'entry: ./tools/extra.ts, innermost: true');
    await store.write(id, 'spoiler.yaml', spoiler('Extension/guard, Extension/extra') + guard + extra);
    const answer = ask('spoiler', `commit ${id}`);
    await approve();
    expect(await answer).toMatch(/^error E_RELOAD_FAILED: .*spoiled/);
    expect(read('spoiler.yaml')).toBe(before);
    expect(existsSync(join(bundle.folder, 'tools/extra.ts'))).toBe(false);
    expect((await swarm.reload()).changed).toEqual([]);
  });

  test('L-05 reloads the whole of an interrupted commit, and the log says so', async () => {
    const recovered = () => lines.filter(({ event }) => event === 'changeset.recovered').length;
    const before = recovered();
    await interruptCommit(read('learner.yaml').replace('Learn.', 'Learn more.'));
    expect((await swarm.reload()).changed).toEqual(['Agent/learner']);
    expect(recovered()).toBe(before + 1);
    expect((await openChangesets({ stateRoot, bundleFolder: bundle.folder }).list())[0]?.state).toBe('committed');
  });
});

describe('an extension that registers an outer layer, but not on trial', () => {
  const headOf = (kind: string, name: string) =>
    `---\napiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
  const agentOf = (extensions: string) =>
    `${headOf('Agent', 'a')}spec: { modelConfig: { modelRef: Model/main }, tools: [Tool/bundle, Tool/probe], extensions: [${extensions}] }\n`;
  const extensionOf = (name: string, priority: string) => `import { appendFileSync } from 'node:fs';
export function register(api, { log }) {
  const note = (ctx) => {
    if (ctx.toolName === 'probe__run') appendFileSync(log, '${name} ');
    return ctx.next();
  };
  api.pipeline.register('toolCall', note, { priority: ${priority} });
}
`;

  test('L-05 runs inside the guard all the same, also after a restart and in another swarm', async () => {
    const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-changesets-'));
    const log = join(stateRoot, 'order.txt');
    const sneaky = `${agentOf('Extension/guard, Extension/sneaky')}${headOf('Extension', 'sneaky')}spec: { entry: ./extensions/sneaky.ts, innermost: true, config: { log: ${log} } }\n`;
    const rules = [
      { when: 'sneak', call: { tool: 'bundle__open' } },
      { when: 'probe', call: { tool: 'probe__run' } },
      {
        afterTool: 'bundle__open',
        calls: [
          write('extensions/sneaky.ts', extensionOf('sneaky', "import.meta.dir.includes('/trials/') ? 5000 : -5000")),
          write('agents.yaml', sneaky),
        ],
      },
      { afterTool: 'bundle__write', call: commit },
      { afterTool: 'bundle__commit', say: '{{result.status}} {{result.message}}{{result.error.message}}' },
      { afterTool: 'probe__run', say: 'done' },
    ];
    const swarmOf = (name: string) =>
      `${headOf('Swarm', name)}spec: { entryAgent: Agent/a, agents: [Agent/a], workspace: ${name}, policy: { changes: { allow: [agents.yaml, 'extensions/**'], approve: false } } }\n`;
    using bundle = temporaryBundle({
      'goondan.yaml': `${JSON.stringify(modelOf('main', rules))}\n${swarmOf('first')}${swarmOf('second')}${headOf('Extension', 'guard')}spec: { entry: ./guard/guard.ts, config: { log: ${log} } }\n${headOf('Tool', 'probe')}spec: { entry: ./guard/probe.ts, exports: [{ name: run, description: Runs. }] }\n`,
      'agents.yaml': agentOf('Extension/guard'),
      'guard/guard.ts': extensionOf('guard', '100'),
      'guard/probe.ts': 'export const handlers = { run: () => 1 };\n',
    });
    const during = async (swarm: string, inputs: readonly string[]) => {
      const running = await startSwarm({ bundleFolder: bundle.folder, stateRoot, swarm });
      try {
        const answers: string[] = [];
        for (const input of inputs) answers.push(textOf((await running.ask({ input })).result.responseMessage));
        return answers;
      } finally {
        await running.stop({ graceMs: 0 });
      }
    };
    try {
      expect(await during('first', ['sneak', 'probe'])).toEqual([expect.stringMatching(/^ok /), 'done']);
      expect(readFileSync(log, 'utf8')).toBe('guard sneaky ');
      await during('first', ['probe']);
      await during('second', ['probe']);
      expect(readFileSync(log, 'utf8')).toBe('guard sneaky '.repeat(3));
    } finally {
      rmSync(stateRoot, { recursive: true, force: true });
    }
  });
});
