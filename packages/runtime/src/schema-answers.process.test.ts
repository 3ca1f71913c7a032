// Tests answers with a schema in real processes: types from code, requests between agents, and a process that is killed.
import { afterAll, beforeAll, expect, expectTypeOf, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonValue } from '@goondan/types';
import { z } from 'zod';
import { connectSwarm } from './control/connect-swarm.ts';
import type { SwarmWith } from './control/swarm.ts';
import { defineSwarm } from './define-swarm.ts';
import { startSwarm } from './start-swarm.ts';
import { temporaryBundle } from './testing/temporary-bundle.ts';

setDefaultTimeout(30_000);

const weather = z.object({ city: z.string(), tempC: z.number() });
type Weather = z.infer<typeof weather>;
const model = (name: string, script: [object, ...object[]]) =>
  ({
    kind: 'Model',
    metadata: { name },
    // Safe: the resource is checked when the swarm is defined.
    spec: { provider: 'scripted', model: name, options: { script: script as never } },
  }) as const;

const files = {
  // Kills the process in the second step of a turn, once, after the first wrong answer was recorded.
  'killer.ts': `import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
export function register({ pipeline }) {
  pipeline.register('step', async (ctx) => {
    const flag = join(import.meta.dirname, 'killed');
    if (ctx.stepIndex === 1 && ctx.turn.inputEvent.input === 'die' && !existsSync(flag)) {
      writeFileSync(flag, '');
      await new Promise((resolve) => setTimeout(resolve, 200));
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => {});
    }
    return ctx.next();
  });
}
`,
};
const bundle = temporaryBundle(files);
const state = temporaryBundle({});

async function define() {
  return defineSwarm({
    folder: bundle.folder,
    resources: [
      model('clerk', [
        { when: 'does not fit', call: { tool: 'output__finish', args: { city: 'Seoul', tempC: 21 } } },
        { when: 'never', say: 'No.' },
        { say: 'It is warm.' },
      ]),
      model('desk', [
        {
          when: 'own',
          call: {
            tool: 'agents__request',
            args: { target: 'clerk', input: 'How warm?', output: { schema: { type: 'array' }, retries: 0 } },
          },
        },
        { when: 'ask', call: { tool: 'agents__request', args: { target: 'clerk', input: 'How warm?' } } },
        { afterTool: 'agents__request', say: 'The result is {{result}}.' },
        { say: 'Hello.' },
      ]),
      {
        kind: 'Agent',
        metadata: { name: 'clerk' },
        spec: {
          modelConfig: { modelRef: 'Model/clerk' },
          isolation: 'agent',
          extensions: ['Extension/killer'],
          output: { schema: weather, retries: 2 },
        },
      },
      {
        kind: 'Agent',
        metadata: { name: 'desk' },
        spec: { modelConfig: { modelRef: 'Model/desk' }, tools: ['Tool/agents'] },
      },
      { kind: 'Extension', metadata: { name: 'killer' }, spec: { entry: './killer.ts' } },
      {
        kind: 'Swarm',
        metadata: { name: 'shop' },
        spec: { entryAgent: 'Agent/desk', agents: ['Agent/desk', 'Agent/clerk'], policy: { spares: 0 } },
      },
    ],
  });
}

let swarm: SwarmWith<{ clerk: Weather; desk: JsonValue }>;
beforeAll(async () => {
  swarm = await startSwarm({ ...(await define()), stateRoot: state.folder });
});
afterAll(async () => {
  await swarm.stop();
  bundle[Symbol.dispose]();
  state[Symbol.dispose]();
});

test('Y-01 types flow from a schema of zod in defineSwarm, and from the schema of an ask', async () => {
  const { result, stepCount } = await swarm.ask({ agent: 'clerk', input: 'How warm?' });
  expectTypeOf(result.output).toEqualTypeOf<Weather | undefined>();
  expect([result.output, stepCount]).toEqual([{ city: 'Seoul', tempC: 21 }, 2]);

  const text = await swarm.ask({ agent: 'desk', input: 'hello' });
  expectTypeOf(text.result.output).toEqualTypeOf<JsonValue | undefined>();
  expect(text.result).not.toHaveProperty('output');

  const warm = z.object({ city: z.string().transform((name) => name.length), tempC: z.number().max(25) });
  const own = await swarm.ask({ agent: 'clerk', input: 'How warm?', output: { schema: warm } });
  expectTypeOf(own.result.output).toEqualTypeOf<{ city: number; tempC: number } | undefined>();
  expect(own.result.output).toEqual({ city: 5, tempC: 21 });

  // @ts-expect-error There is no such field.
  const mistyped = swarm.ask({ agnet: 'clerk', input: 'x' });
  await mistyped.catch(() => undefined);
});

test('Y-01 a refinement that only the schema library knows makes the end of a failed turn', async () => {
  const cold = weather.refine(({ tempC }) => tempC < 10, 'is too warm');
  const { result } = await swarm.ask({ agent: 'clerk', input: 'How warm?', output: { schema: cold } });
  expect(result).toMatchObject({ finishReason: 'error', error: { code: 'E_OUTPUT_SCHEMA' } });
  expect(result.error?.message).toContain('is too warm');
  expect(result).not.toHaveProperty('output');
});

test('Y-01 the demand of a client reaches the agent over the control socket, and a wrong one is refused', async () => {
  const { workspaceId } = await swarm.status();
  const client = await connectSwarm({ stateRoot: state.folder, workspaceId });
  const { result } = await client.ask({ agent: 'clerk', input: 'How warm?', output: { schema: weather } });
  expectTypeOf(result.output).toEqualTypeOf<Weather | undefined>();
  expect(result.output).toEqual({ city: 'Seoul', tempC: 21 });
  for (const handle of [client, swarm]) {
    const asked = handle.ask({ agent: 'clerk', input: 'x', output: { schema: { nope: 1 } } });
    expect(await asked.catch((error: unknown) => error)).toMatchObject({ code: 'E_OUTPUT_INVALID' });
    const sent = handle.deliver({ agent: 'clerk', input: 'x', output: { schema: { nope: 1 } } });
    expect(await sent.catch((error: unknown) => error)).toMatchObject({ code: 'E_OUTPUT_INVALID' });
  }
});

test('Y-01 agents__request returns the typed output of an agent in another process, and its demand wins', async () => {
  const said = async (input: string) => {
    const { result } = await swarm.ask({ agent: 'desk', input });
    return JSON.stringify(result.responseMessage?.data.content ?? result.error);
  };
  expect(await said('ask')).toContain('{\\"city\\":\\"Seoul\\",\\"tempC\\":21}');
  // The demand of the request has no retry, and the first answer of the clerk is not a list.
  expect(await said('own')).toContain('E_OUTPUT_SCHEMA');
});

test('Y-01 a turn whose process is killed after a wrong answer goes on, and the answer counts once', async () => {
  const { result, stepCount } = await swarm.ask({ agent: 'clerk', instanceKey: 'killed', input: 'die' });
  expect([result.output, stepCount]).toEqual([{ city: 'Seoul', tempC: 21 }, 2]);
  expect(existsSync(join(bundle.folder, 'killed'))).toBe(true);
});
