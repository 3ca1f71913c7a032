// Twenty secrets, planted in everything an extension or a tool can say, must show nowhere.
import { describe, expect, test } from 'bun:test';
import type { ExtensionRegister } from '@goondan/types';
import { extension, scriptedAgent } from '../../testing/index.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const canaries = Array.from({ length: 20 }, (_, number) => `canary-${number} "p&ss"\\w+rd\n${'é'.repeat(number)}/end`);
/** What is left of a canary in any of its forms. */
const feather = /canary|p&ss|p%26ss|p\\u0026ss|w\+rd|w%2Brd/;

const forms = canaries.flatMap((secret) => [
  secret,
  JSON.stringify({ secret }),
  `https://example.com/?key=${encodeURIComponent(secret)}`,
  new URLSearchParams({ secret }).toString(),
]);
const everything = forms.join(' | ');

const tell = (code: string) =>
  Object.assign(new Error(everything), { code, suggestion: everything, helpUrl: everything });

const speaker: ExtensionRegister = ({ logger, pipeline, events }) => {
  const say = () => {
    for (const form of forms) logger.info(form);
    for (const secret of canaries) logger.warn('config', { secret, list: [secret] }, [secret]);
    logger.error(tell('E_OWN'));
    logger.table([{ secret: canaries[0] }]);
    logger.group(everything);
    logger.count(canaries[1]);
  };
  say();
  events.on('turn.started', () => {
    throw tell('E_OWN');
  });
  pipeline.register('turn', (ctx) => {
    say();
    return ctx.next();
  });
};

const teller: ToolDeclaration = {
  name: 'teller',
  exports: [{ name: 'tell', description: 'Tells.' }],
  handlers: {
    tell: ({ logger }) => {
      logger.info(everything);
      throw tell('E_TOLD');
    },
  },
};

const throwIn = (kind: 'step' | 'toolCall'): ExtensionRegister => {
  const fail = () => Promise.reject(tell('E_LAYER'));
  return ({ pipeline }) => (kind === 'step' ? pipeline.register(kind, fail) : pipeline.register(kind, fail));
};

async function run(more: readonly ExtensionRegister[]) {
  const agent = await scriptedAgent({
    secrets: canaries,
    tools: [teller],
    script: [{ when: 'go', call: { tool: 'teller__tell' } }, { say: 'done' }],
    extensions: [
      extension('speaker', speaker),
      ...more.map((register, index) => extension(`more-${index}`, register)),
      extension('leaver', () => () => Promise.reject(tell('E_LEFT'))),
    ],
  });
  const turn = await agent.say('go');
  await agent.close();
  return { agent, turn };
}

describe('twenty canaries', () => {
  test('X-15 fly in no log line', async () => {
    const { agent } = await run([]);
    expect(agent.logs.length).toBeGreaterThan(200);
    expect(agent.logs.filter((line) => feather.test(JSON.stringify(line)))).toEqual([]);
  });

  test('X-15 fly in no tool result, whoever threw', async () => {
    for (const more of [[], [throwIn('toolCall')]]) {
      const { agent, turn } = await run(more);
      expect(turn.text).toBe('done');
      const results = (await agent.messages()).filter(({ data }) => data.role === 'tool');
      expect(results).toHaveLength(1);
      expect(JSON.stringify(results)).toContain('***');
      expect(JSON.stringify(results)).not.toMatch(feather);
      expect(JSON.stringify(agent.requests)).not.toMatch(feather);
    }
  });

  test('X-15 fly in no turn error', async () => {
    const { turn } = await run([throwIn('step')]);
    expect(turn.result.error).toMatchObject({ code: 'E_LAYER' });
    expect(turn.result.error?.message).toContain('***');
    expect(JSON.stringify(turn.result)).not.toMatch(feather);
  });

  test('X-15 fly in no runtime event', async () => {
    for (const more of [[throwIn('step')], [throwIn('toolCall')]]) {
      const { agent } = await run(more);
      expect(JSON.stringify(agent.told)).toContain('***');
      expect(JSON.stringify(agent.told)).not.toMatch(feather);
    }
  });
});
