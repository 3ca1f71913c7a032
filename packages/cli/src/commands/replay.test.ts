// Real processes: `gdn replay` of turns that a real swarm ran. The model is an HTTP server that counts what it is asked,
// and the tool leaves a file behind.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplayReport } from '@goondan/runtime';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

// Several processes one after the other, on a machine that may be busy.
setDefaultTimeout(120_000);

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]));

const gdn = (...args: string[]) => place.run(...args, '--bundle', 'bundle', '--trust');

async function replayJson(...args: string[]): Promise<ReplayReport & { readonly exitCode: number }> {
  const { stdout, stderr, exitCode } = await gdn('replay', ...args, '--json');
  expect(stderr).toBe('');
  return { ...(JSON.parse(stdout) as ReplayReport), exitCode };
}

const mark = () => join(place.folder, 'mark');

const tag = (text: string) => `
  import { createSystemMessage } from '@goondan/types';
  export function register(api, config) {
    api.pipeline.register('step', async function tagStep(ctx) {
      const said = [${text}, new Date().toISOString(), Math.random(), crypto.randomUUID()].join(' ');
      ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(said) });
      return ctx.next();
    });
  }`;

const guard = (days: number) => `
  export function register(api) {
    api.pipeline.register('toolCall', async (ctx) => {
      ctx.args = { ...ctx.args, days: ${days} };
      return ctx.next();
    }, { name: 'limit days' });
  }`;

async function writeBundle(more: { readonly swarm?: string; readonly files?: Record<string, string> } = {}) {
  const script = [
    `- { when: 'weather', call: { tool: weather__get, args: { days: 9 } } }`,
    `- { afterTool: weather__get, say: 'It is {{result.degrees}} degrees.' }`,
    `- { say: 'You said: {{input}}' }`,
  ].join('\n');
  const agent = 'tools: [Tool/weather]\nextensions: [Extension/tag, Extension/guard, Extension/idle]';
  const extension = (name: string) =>
    `apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: ${name} }\nspec: { entry: ./${name}.ts }`;
  const tool =
    'kind: Tool\nmetadata: { name: weather }\nspec:\n  entry: ./weather.ts\n  exports:\n    - name: get\n      description: The weather.\n      parameters: { type: object }\n';
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({
      script,
      agent,
      more: [tool, ...['tag', 'guard', 'idle'].map(extension)].join('\n---\n'),
      swarm: more.swarm ?? '',
    }),
    'weather.ts': `
      import { writeFileSync } from 'node:fs';
      writeFileSync(${JSON.stringify(`${mark()}-imported`)}, '');
      export const handlers = { get() { writeFileSync(${JSON.stringify(mark())}, ''); return { degrees: 20 }; } };`,
    'tag.ts': tag(`'be kind'`),
    'guard.ts': guard(3),
    'idle.ts': `export const register = (api) => api.pipeline.register('turn', (ctx) => ctx.next());`,
    'new-guard.ts': guard(7),
    ...more.files,
  });
}

async function run(input: string): Promise<string> {
  const { stdout, exitCode } = await gdn('run', '--input', input, '--json');
  expect(exitCode).toBe(0);
  return (JSON.parse(stdout) as { turnId: string }).turnId;
}

describe('gdn replay', () => {
  test('a turn that nothing has changed about does what it did, and no tool is run or even imported', async () => {
    await writeBundle();
    await run('hello');
    const turnId = await run('weather');
    expect(existsSync(mark())).toBe(true);
    rmSync(mark());
    rmSync(`${mark()}-imported`);

    const { stdout, stderr, exitCode } = await gdn('replay');
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const [head, asked, served, , verdict] = stdout.split('\n');
    expect(head).toStartWith(`Replayed ${turnId} of host (default), 20`);
    expect(asked).toBe('asked: weather');
    expect(served).toBe('2 steps, 2 model replies, 1 tool result served from the recording, 0 called');
    expect(verdict).toBe('No divergence: 4 layers did what they did.');
    expect([existsSync(mark()), existsSync(`${mark()}-imported`)]).toEqual([false, false]);
  });

  test('with an extension replaced, names it, its layer, the field and the values', async () => {
    await writeBundle();
    const turnId = await run('weather');
    const swapped = await gdn('replay', turnId, '--swap', 'Extension/guard=bundle/new-guard.ts');
    expect(swapped.exitCode).toBe(1);
    expect(swapped.stdout.split('\n').slice(3)).toEqual([
      '',
      'First divergence:',
      `  Extension/guard, replaced by ${join(place.folder, 'bundle/new-guard.ts')}`,
      '  step 0 › toolCall weather__get › guard · limit days',
      '  changed args.days otherwise',
      '    ~ args.days: 3 → 7',
      'It ended at step 0 › toolCall weather__get: the recording has no answer to what is asked there.',
      '',
    ]);
  });
});
