import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hookPoints, type JsonObject } from '@goondan/types';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { extension } from '@goondan/runtime/testing';
import { fillArguments, lookUp } from './fill-arguments.ts';
import type { Hook } from './hook.ts';
import { agentOpener, baseExtension } from '../../testing/base-extension.ts';
import { bundleWith } from '../../testing/bundle-with.ts';

const openAgent = agentOpener();
let folder = '';
beforeEach(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), 'gdn-hooks-')))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes an executable script into the bundle. */
function script(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return `./${name}`;
}

const sentinel = (seen: string[]) =>
  extension('sentinel', ({ pipeline }) => {
    pipeline.register('toolCall', (ctx) => (seen.push(`${ctx.toolName} ${JSON.stringify(ctx.args)}`), ctx.next()));
  });

/** The sentinel is inside the hooks, unless the hooks have the tier that they have in a bundle. */
async function open(
  hooks: readonly Hook[],
  seen: string[] = [],
  { maxStepRetries = 0, tier = 'agent' }: { maxStepRetries?: number; tier?: 'agent' | 'hook' } = {},
) {
  const config = JSON.parse(JSON.stringify({ hooks })) as JsonObject;
  return openAgent({
    workdir: folder,
    bundleFolder: folder,
    policy: { retryBaseMs: 0, maxStepRetries },
    script: [
      { when: 'busy', fail: { message: 'busy', retryable: true, times: 1 } },
      { when: 'look', call: { tool: 'shop__look', args: { what: 'tea' } } },
      { afterTool: 'shop__look', say: 'saw {{result.error.code}}' },
      { say: 'You said: {{input}}' },
    ],
    tools: [
      {
        name: 'shop',
        exports: [
          { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
          { name: 'note', description: 'Notes.', parameters: { type: 'object' } },
        ],
        handlers: {
          look: () => 'seen',
          note: () => 'noted',
        },
      },
    ],
    extensions: [
      {
        ...baseExtension('hooks', config),
        tier,
      },
      sentinel(seen),
    ],
  });
}

const note = (point: Hook['point'], args: JsonObject, more: Partial<Hook> = {}): Hook => ({
  point,
  action: { toolCall: { tool: 'shop__note', args } },
  ...more,
});

describe('a hook that calls a tool', () => {
  test('L-03 runs at its point, with facts in its arguments, through the layers of every tool call (P-19)', async () => {
    const seen: string[] = [];
    const tested = await open(
      [
        note('turn.pre', { asked: { expr: 'event.input' } }),
        note('turn.post', {
          answer: { expr: 'result.text' },
          nested: [{ who: { expr: 'agentName' } }],
          missing: { expr: 'a.b' },
        }),
        note('step.pre', { step: { expr: 'stepIndex' }, first: { expr: 'tools.0' } }),
        note('step.post', { calls: { expr: 'result.toolCalls.0.name' } }),
      ],
      seen,
    );
    expect((await tested.say('hello')).text).toBe('You said: hello');
    expect(seen).toEqual([
      'shop__note {"asked":"hello"}',
      'shop__note {"step":0,"first":"shop__look"}',
      'shop__note {"calls":null}',
      'shop__note {"answer":"You said: hello","nested":[{"who":"tested"}],"missing":null}',
    ]);
  });
});

describe('a hook that runs a command', () => {
  test('L-03 passes JSON on standard input, in the format of other agents', async () => {
    const hook = script('look.sh', 'cat > "$PWD/input.json"');
    const tested = await open([{ point: 'toolCall.pre', tool: 'shop__*', action: { command: [hook] } }]);
    expect((await tested.say('look')).text).toBe('saw ');
    expect(JSON.parse(readFileSync(join(folder, 'input.json'), 'utf8'))).toMatchObject({
      session_id: 'tested/default',
      cwd: folder,
      hook_event_name: 'PreToolUse',
      tool_name: 'shop__look',
      tool_input: { what: 'tea' },
      point: 'toolCall.pre',
      goondan: { turnId: 'turn-event-1' },
    });
  });

  test('exit 2 blocks a tool call: the model gets the reason, and the tool does not run', async () => {
    const seen: string[] = [];
    const hook = script('no.sh', 'echo "not on Sundays" >&2; exit 2');
    const tested = await open([{ id: 'sunday', point: 'toolCall.pre', action: { command: [hook] } }], seen);
    expect((await tested.say('look')).text).toBe('saw E_HOOK_BLOCKED');
    expect(JSON.stringify(await tested.messages())).toContain('Hook \\"sunday\\" has blocked this: not on Sundays');
    expect(tested.logs.some(({ message }) => message.includes('next()'))).toBe(false);
    expect(seen).toEqual([]);
  });

  test('a block without a reason says so', async () => {
    const tested = await open([{ id: 'm', point: 'turn.pre', action: { command: [script('no.sh', 'exit 2')] } }]);
    expect((await tested.say('hello')).result.error?.message).toBe('Hook "m" has blocked this.');
  });

  test('after a call, exit 2 replaces its result', async () => {
    const hook = script('after.sh', 'grep -q "\\"output\\":\\"seen\\"" && exit 2');
    const tested = await open([{ point: 'toolCall.post', action: { command: [hook] } }]);
    expect((await tested.say('look')).text).toBe('saw E_HOOK_BLOCKED');
  });

  test('L-03 exit 2 at a turn or a step ends the turn', async () => {
    const hook = script('no.sh', 'exit 2');
    const blocking = hookPoints.filter((point) => !point.startsWith('toolCall.') && point !== 'step.llmError');
    expect(blocking).toHaveLength(8);
    for (const point of blocking) {
      const tested = await open([{ point, action: { command: [hook] } }]);
      expect((await tested.say('hello')).result).toMatchObject({
        finishReason: 'error',
        error: { code: 'E_HOOK_BLOCKED' },
      });
    }
  });

  test('L-03 exit 2 after a failed model call prevents the retry', async () => {
    const hook = script('no.sh', 'cat > "$PWD/input.json"; exit 2');
    const tested = await open([{ point: 'step.llmError', action: { command: [hook] } }], [], { maxStepRetries: 3 });
    expect((await tested.say('busy')).result.error?.code).toBe('E_HOOK_BLOCKED');
    expect(tested.requests).toHaveLength(1);
    expect(JSON.parse(readFileSync(join(folder, 'input.json'), 'utf8'))).toMatchObject({
      hook_event_name: 'ModelCallFailed',
      goondan: { error: { message: 'busy', retryable: true } },
    });
    const patient = await open([{ point: 'step.llmError', action: { command: ['true'] } }], [], { maxStepRetries: 3 });
    expect((await patient.say('busy')).text).toBe('You said: busy');
  });

  test('L-03 a command before a model call reads what the model gets', async () => {
    const hook = script('read.sh', 'cat > "$PWD/input.json"');
    const tested = await open([{ point: 'step.llmCall', action: { command: [hook] } }]);
    await tested.say('hello');
    expect(JSON.parse(readFileSync(join(folder, 'input.json'), 'utf8'))).toMatchObject({
      hook_event_name: 'PreModelCall',
      goondan: {
        stepIndex: 0,
        model: 'Model/scripted',
        tools: ['shop__look', 'shop__note'],
        messages: [{ role: 'user', content: 'hello' }],
      },
    });
  });

  test('L-03 a hook that calls the tool it is at makes one call, which every layer and every command sees', async () => {
    const seen: string[] = [];
    const guard = (point: Hook['point']): Hook => ({
      point,
      action: { command: [script(`${point}.sh`, `echo ${point} >> "$PWD/guards"`)] },
    });
    const again: Hook = {
      point: 'toolCall.pre',
      action: { toolCall: { tool: 'shop__look', args: { what: 'again' } } },
    };
    const guards = [guard('toolCall.pre'), guard('toolCall.exec'), guard('toolCall.post')];
    const tested = await open([again, ...guards], seen, { tier: 'hook' });
    expect((await tested.say('look')).text).toBe('saw ');
    expect(seen).toEqual(['shop__look {"what":"tea"}', 'shop__look {"what":"again"}']);
    const once = ['toolCall.pre', 'toolCall.exec', 'toolCall.post'];
    expect(readFileSync(join(folder, 'guards'), 'utf8').trim().split('\n')).toEqual([...once, ...once]);
  });

  test('L-03 a command blocks the call of a hook, too', async () => {
    const seen: string[] = [];
    const no = script('no.sh', 'echo "no notes" >&2; exit 2');
    const tested = await open(
      [note('turn.pre', {}), { point: 'toolCall.exec', tool: 'shop__note', action: { command: [no] } }],
      seen,
    );
    expect((await tested.say('hello')).text).toBe('You said: hello');
    expect(seen).toEqual([]);
    expect(tested.logs.map(({ message }) => message).join()).toContain('has blocked this: no notes');
  });

  test('any other exit code is a warning', async () => {
    const hook = script('odd.sh', 'echo "disk is slow" >&2; exit 7');
    const tested = await open([{ point: 'toolCall.pre', action: { command: [hook] } }]);
    expect((await tested.say('look')).text).toBe('saw ');
    expect(tested.logs.map(({ message }) => message).join()).toContain('ended with code 7: disk is slow.');
  });

  test.each([
    ['that is missing', () => ['./none.sh'], /cannot be started \(.*none\.sh.*\), so this is blocked\./],
    [
      'that takes too long',
      () => [script('slow.sh', 'sleep 60')],
      /did not answer within 300 ms, so this is blocked\./,
    ],
    ['that is killed', () => [script('dead.sh', 'kill -9 $$')], /was ended by SIGKILL/],
  ])('one %s blocks, unless configured otherwise', async (_, command, problem) => {
    const action = { command: command(), timeoutMs: 300 };
    const strict = await open([{ point: 'toolCall.pre', action }]);
    expect((await strict.say('look')).text).toBe('saw E_HOOK_BLOCKED');
    expect(JSON.stringify(await strict.messages())).toMatch(problem);
    const lenient = await open([{ point: 'toolCall.pre', action: { ...action, onFailure: 'continue' } }]);
    expect((await lenient.say('look')).text).toBe('saw ');
  });

  test('no process it started is left, even one that ignores SIGTERM', async () => {
    const mark = join(folder, 'still-there');
    const hook = script('stubborn.sh', `trap '' TERM\n(sleep 1; touch ${mark}) &\nsleep 60`);
    const tested = await open([{ point: 'toolCall.pre', action: { command: [hook], timeoutMs: 100 } }]);
    await tested.say('look');
    await tested.close();
    await Bun.sleep(1_500);
    expect(existsSync(mark)).toBe(false);
  });

  test('gets no variables of this process', async () => {
    process.env.CANARY_OF_HOOKS = 'sk-live-1234';
    const hook = script('env.sh', 'env > "$PWD/env.txt"');
    const tested = await open([{ point: 'turn.pre', action: { command: [hook] } }]);
    await tested.say('hello');
    delete process.env.CANARY_OF_HOOKS;
    expect(readFileSync(join(folder, 'env.txt'), 'utf8')).not.toContain('sk-live-1234');
  });

  test('for another tool does not run', async () => {
    const hook = script('no.sh', 'exit 2');
    const tested = await open([{ point: 'toolCall.pre', tool: 'bash__*', action: { command: [hook] } }]);
    expect((await tested.say('look')).text).toBe('saw ');
  });
});

describe('an expression', () => {
  const facts = { a: { b: [{ c: 1 }] }, text: 'x', nothing: null };
  test.each([
    ['a.b.0.c', 1],
    [' text ', 'x'],
    ['a', { b: [{ c: 1 }] }],
    ['a.x', null],
    ['text.length', null],
    ['nothing.x', null],
    ['constructor.name', null],
    ['a.__proto__', null],
    ['', null],
  ])('%p is %p', (path, value) => {
    expect(lookUp(path, facts)).toEqual(value);
  });

  test('is an object with the key expr only', () => {
    expect(fillArguments({ one: { expr: 'text' }, two: { expr: 'text', more: 1 }, three: { expr: 5 } }, facts)).toEqual(
      {
        one: 'x',
        two: { expr: 'text', more: 1 },
        three: { expr: 5 },
      },
    );
  });
});

const bundle = (hook: string) => bundleWith('hooks', `{ hooks: [${hook}] }`, ['logging']);

describe('in a bundle', () => {
  test('L-03 hooks are inside all other extensions, wherever they are listed', async () => {
    writeFileSync(
      join(folder, 'goondan.yaml'),
      bundle('{ point: turn.pre, action: { command: [true] } }').replace('[true]', "['true']"),
    );
    const loaded = await loadBundle(folder, { environment: {} });
    expect(loaded.errors).toEqual([]);
    const [agent] = resolveSwarm(loaded, { environment: {} }).plan.agents;
    expect(agent?.extensions?.map(({ resource, tier }) => `${resource.metadata.name} ${tier}`)).toEqual([
      'hooks hook',
      'logging agent',
    ]);
  });

  test.each(hookPoints)('a hook at %s may call a tool', async (point) => {
    writeFileSync(
      join(folder, 'goondan.yaml'),
      bundle(`{ point: ${point}, required: true, action: { toolCall: { tool: x__y } } }`),
    );
    expect((await loadBundle(folder, { environment: {} })).errors).toEqual([]);
  });

  test.each([
    ["{ point: turn.pre, required: true, action: { command: ['true'] } }", 'a required command'],
    ["{ point: turn.pre, tool: x, action: { command: ['true'] } }", 'a tool at a turn'],
    ["{ point: step.llmCall, tool: x, action: { command: ['true'] } }", 'a tool at a model call'],
    ["{ point: turn.mid, action: { command: ['true'] } }", 'an unknown point'],
    ['{ point: turn.pre, action: {} }', 'no action'],
    ["{ point: turn.pre, action: { command: ['true'], toolCall: { tool: x } } }", 'two actions'],
    ['{ point: turn.pre, action: { command: [] } }', 'an empty command'],
  ])('%s is rejected: %s', async (hook) => {
    writeFileSync(join(folder, 'goondan.yaml'), bundle(hook));
    const { errors } = await loadBundle(folder, { environment: {} });
    expect(errors.map(({ code }) => code)).toContain('E_EXT_CONFIG');
  });
});
