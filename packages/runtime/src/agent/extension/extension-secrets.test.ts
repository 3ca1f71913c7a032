import { describe, expect, test } from 'bun:test';
import { extension, scriptedAgent } from '@goondan/runtime/testing';
import { growingMask } from '../../log/mask-secrets.ts';
import { extensionSecrets, MOST_SECRETS } from './extension-secrets.ts';

const token = 'token-of-a-sign-in';

describe('secrets that an extension gets while it runs', () => {
  test('N-01 are masked from then on, and no other extension hears of them', async () => {
    const heard: unknown[] = [];
    const agent = await scriptedAgent({
      extensions: [
        extension(
          'listener',
          ({ events }) => void events.on('extension.secrets', (...args: unknown[]) => heard.push(args)),
        ),
        extension('signer', ({ events, logger, pipeline }) => {
          pipeline.register('turn', (ctx) => {
            logger.info(`before ${token}`);
            events.emit('extension.secrets', [token]);
            logger.info(`after ${token}`);
            return ctx.next();
          });
        }),
      ],
      script: [{ say: `It is ${token}.` }],
    });
    const { result } = await agent.say('hello');
    await agent.close();
    expect(JSON.stringify(result.responseMessage?.data)).toContain('It is ***.');
    const lines = agent.logs.map(({ message }) => message);
    expect([lines.includes(`before ${token}`), lines.includes('after ***')]).toEqual([true, true]);
    expect(heard).toEqual([]);
  });

  test('are refused if they are not texts, or too many', () => {
    const refused: string[] = [];
    const mask = growingMask([]);
    const add = extensionSecrets(mask, (problem, name) => void refused.push(`${name}: ${problem}`));
    add('a secret alone', 'one');
    add([7], 'two');
    add({ token }, 'three');
    add(
      Array.from({ length: MOST_SECRETS }, (_, index) => `secret number ${index}`),
      'four',
    );
    add(
      Array.from({ length: MOST_SECRETS - 1 }, (_, index) => `secret number ${index}`),
      'five',
    );
    expect(refused).toEqual([
      'two: they must be texts',
      'three: they must be texts',
      `four: they are more than ${MOST_SECRETS}`,
    ]);
    expect(mask('a secret alone, secret number 4000')).toBe('***, ***');
  });
});
