// Tests with real agents: code of a bundle throws. All output for people names the place in the code, and the model
// gets only the message.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { LogLine } from '@goondan/runtime';
import type { ReadTrace, TurnSummary } from '@goondan/runtime/history';
import type { TimelineView, TraceView, TurnList, WorkspaceList } from '../studio/contract.ts';
import { type Ended, GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { StudioPlace } from '../testing/studio-place.ts';
import type { TurnReport } from '../run/turn-report.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(60_000);

const files = {
  'goondan.yaml': sampleBundle({
    script: [
      `- { when: '^roll', call: { tool: dice__roll } }`,
      `- { when: '^ask', call: { tool: agents__request, args: { target: helper, input: 'rules' } } }`,
      `- { say: 'It said {{result}}' }`,
    ].join('\n'),
    agent: 'tools: [Tool/dice, Tool/agents]',
    swarm: 'extensions: [Extension/house-rules]',
    agents: ['helper'],
    more: [
      'kind: Extension\nmetadata: { name: house-rules }\nspec: { entry: ./extensions/house-rules.ts }',
      'apiVersion: goondan.ai/v1\nkind: Tool\nmetadata: { name: dice }\nspec:\n  entry: ./tools/dice.ts\n  exports: [{ name: roll, description: Rolls dice. }]',
    ].join('\n---\n'),
  }),
  'extensions/house-rules.ts': [
    `import type { ExtensionApi } from '@goondan/types';`,
    ``,
    `export function register(api: ExtensionApi): void {`,
    `  api.pipeline.register('step', async (ctx) => {`,
    `    if (ctx.turn.inputEvent.input === 'rules') rulez.apply(ctx);`,
    `    return ctx.next();`,
    `  });`,
    `}`,
  ].join('\n'),
  'tools/dice.ts': [
    `interface Dice { sides: number }`,
    `export const handlers = {`,
    `  roll: (): Dice => sidez(),`,
    `};`,
  ].join('\n'),
};
const rulesPlace = { file: 'extensions/house-rules.ts', line: 5, column: 48 };
const dicePlace = { file: 'tools/dice.ts', line: 3, column: 21 };

let place: GdnPlace;
let failed: Ended;
let rolled: Ended;
let asked: Ended;
const gdn = (...args: string[]) => place.run(...args, '--bundle', 'bundle');

beforeAll(async () => {
  place = new GdnPlace();
  await place.write('bundle', files);
  rolled = await gdn('run', '--trust', '--input', 'roll', '--json');
  asked = await gdn('run', '--trust', '--input', 'ask', '--json');
  failed = await gdn('run', '--trust', '--input', 'rules');
});
afterAll(async () => expect(await place.remove()).toEqual([]));

describe('code of a bundle that throws', () => {
  test('in a layer: the terminal names code, extension, message and place', async () => {
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr.split('\n')[0]).toBe(
      'E_EXT_MIDDLEWARE: Extension/house-rules: rulez is not defined (extensions/house-rules.ts:5:48)',
    );
    const { stdout } = await gdn('run', '--trust', '--input', 'rules', '--json');
    expect((JSON.parse(stdout) as TurnReport).error).toEqual({
      code: 'E_EXT_MIDDLEWARE',
      message: 'rulez is not defined',
      extension: 'house-rules',
      place: rulesPlace,
    });
  });

  test('in a tool: the terminal warns with the place, the model gets the message', () => {
    expect(rolled.stderr).toBe(
      'warn: host: Tool "dice__roll" failed: sidez is not defined (E_TOOL_FAILED, tools/dice.ts:3:21)\n',
    );
    const { response } = JSON.parse(rolled.stdout) as TurnReport;
    expect(response).toContain('sidez is not defined');
    expect(response).not.toContain('dice.ts');
  });

  test('in a called agent: the terminal names the place, the calling model gets the message', () => {
    expect(asked.stderr).toContain(
      'error: helper house-rules: Turn failed: rulez is not defined (E_EXT_MIDDLEWARE, extensions/house-rules.ts:5:48)\n',
    );
    const { response } = JSON.parse(asked.stdout) as TurnReport;
    expect(response).toContain('rulez is not defined');
    expect(response).not.toContain('house-rules.ts');
  });

  test('is in the log with place and stack', async () => {
    const { stdout } = await gdn('logs', '--agent', 'host', '--json');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LogLine);
    expect(lines.find(({ event }) => event === 'turn.failed')).toMatchObject({
      level: 'error',
      extension: 'house-rules',
      place: rulesPlace,
      data: { code: 'E_EXT_MIDDLEWARE', stack: expect.stringMatching(/\n {4}at extensions\/house-rules\.ts:5:48\n/) },
    });
    expect(lines.find(({ event }) => event === 'tool.failed')).toMatchObject({ level: 'warn', place: dicePlace });
    const text = (await gdn('logs')).stdout;
    expect(text).toMatch(
      /error host default [0-9a-f-]+ house-rules: Turn failed: .* \(E_EXT_MIDDLEWARE, extensions\/house-rules\.ts:5:48\)\n {2}ReferenceError: rulez is not defined\n {6}at extensions\/house-rules\.ts:5:48\n {6}… \d+ frames? of goondan\n/,
    );
    expect(text).not.toContain(place.folder);
  });

  test('is in the trace with place and stack', async () => {
    const shown = (await gdn('trace', 'last')).stdout;
    expect(shown).toContain('✗ rulez is not defined (extensions/house-rules.ts:5:48)');
    expect(shown).not.toContain('frames of goondan');
    expect((await gdn('trace', 'last', '--diff')).stdout).toMatch(
      /at extensions\/house-rules\.ts:5:48\n.* frames? of goondan/,
    );
    const trace = JSON.parse((await gdn('trace', 'last', '--json')).stdout) as ReadTrace;
    const [turn] = trace.turns;
    const stack = expect.stringContaining('at extensions/house-rules.ts:5:48');
    expect(turn).toMatchObject({ place: rulesPlace, stack });
    expect(turn?.chain.inside[0]?.layers).toMatchObject([{ extension: 'house-rules', place: rulesPlace, stack }]);
  });

  test('is in Studio with place and stack', async () => {
    const studio = new StudioPlace({ stateRoot: place.stateRoot });
    await studio.enter();
    const { workspaces } = await studio.read<WorkspaceList>('/api/workspaces');
    const at = `/api/workspaces/${workspaces[0]?.workspaceId}`;
    const { turns: committed } = await studio.read<TimelineView>(`${at}/timeline?agent=host&instanceKey=default`);
    expect(committed.at(-1)?.error).toMatchObject({ extension: 'house-rules', place: rulesPlace });
    const { turns } = await studio.read<TurnList>(`${at}/turns?agent=host&instanceKey=default`);
    const turn = turns.find(({ turnId }) => turnId === committed.at(-1)?.turnId) as TurnSummary;
    expect(turn).toMatchObject({ place: rulesPlace, stack: expect.stringContaining('house-rules.ts:5:48') });
    const trace = await studio.read<TraceView>(`${at}/trace?id=${turn.turnId}`);
    expect(trace.turns[0]?.chain.inside[0]?.layers[0]).toMatchObject({ place: rulesPlace });
    await studio.remove();
  });
});
