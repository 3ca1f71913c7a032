import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConnector } from './load-connector.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';

const root = temporaryFolder();

const load = (entry: string, text?: string) => {
  if (text !== undefined) writeFileSync(join(root, entry), text);
  return loadConnector({ connector: 'chat', root, entry });
};

describe('the module of a connector', () => {
  test('is its default export', async () => {
    const listen = await load(
      'good.ts',
      'export default async (ctx: { emit: (text: string) => void }) => ctx.emit("heard");',
    );
    const heard: unknown[] = [];
    await listen({ emit: (text: unknown) => heard.push(text) } as never);
    expect(heard).toEqual(['heard']);
  });

  test.each([
    ['none.ts', undefined, 'there is no such file'],
    ['broken.ts', 'export default (', 'Unexpected'],
    ['throws.ts', 'throw new Error("at once");', 'at once'],
    ['string.ts', 'throw "not even an error";', 'not even an error'],
    ['named.ts', 'export const connector = () => undefined;', 'its default export is not a function'],
    ['object.ts', 'export default { listen() {} };', 'its default export is not a function'],
  ])('%s cannot be loaded, and the error names the connector and the reason', async (entry, text, problem) => {
    const error = await load(entry, text).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'E_CONNECTOR_LOAD',
      message: expect.stringMatching(new RegExp(`^Connector/chat: "${entry}" cannot be loaded: .*${problem}`, 's')),
    });
  });

  test('X-07 an error with a suggestion keeps it', async () => {
    const text = `throw Object.assign(new Error('no key'), { suggestion: 'Set CHAT_KEY.' });`;
    const error = await load('advises.ts', text).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E_CONNECTOR_LOAD', suggestion: 'Set CHAT_KEY.' });
  });

  test('stays inside its bundle', async () => {
    const error = await load('../outside.ts').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E_PATH_OUTSIDE', message: expect.stringContaining('Connector/chat') });
  });
});
