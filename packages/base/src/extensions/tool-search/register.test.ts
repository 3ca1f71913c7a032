import { describe, expect, test } from 'bun:test';
import { rankTools } from './rank-tools.ts';
import type { ToolSearchConfig } from './register.ts';
import { agentOpener, baseExtension } from '../../testing/base-extension.ts';

const openAgent = agentOpener();

const exports = [
  { name: 'read_file', description: 'Reads a file of the project.' },
  { name: 'write_file', description: 'Writes a file.' },
  { name: 'send_mail', description: 'Sends an e-mail to somebody.' },
  { name: 'weather', description: 'The weather of a city.' },
];
const handlers = Object.fromEntries(exports.map(({ name }) => [name, () => `${name} ran`]));
const box = { name: 'box', exports, handlers };

async function open(config: ToolSearchConfig, script: Parameters<typeof openAgent>[0]) {
  return openAgent({
    ...script,
    tools: [box],
    extensions: [baseExtension('tool-search', { ...config, always: [...(config.always ?? [])] })],
  });
}

const search = (query: string, more: object = {}) => ({
  call: { tool: 'tool-search__search', args: { query, ...more } },
});
const offered = (tested: Awaited<ReturnType<typeof open>>) =>
  tested.requests.map(({ tools }) => tools.map(({ name }) => name));
const all = ['box__read_file', 'box__write_file', 'box__send_mail', 'box__weather', 'tool-search__search'];

describe('tool-search', () => {
  test('B-02 the results narrow the next step, in the order of the catalog, and the search stays', async () => {
    const tested = await open(
      {},
      {
        script: [
          { afterTool: 'tool-search__search', say: 'found' },
          { when: 'files', ...search('write or read a file') },
        ],
      },
    );
    await tested.say('files');
    expect(offered(tested)).toEqual([all, ['box__read_file', 'box__write_file', 'tool-search__search']]);
    expect(await tested.stateOf('tool-search')).toEqual({ selectedTools: ['box__read_file', 'box__write_file'] });
  });

  test('B-02 the selection holds in the next turn, and another search replaces it', async () => {
    const script = [
      { afterTool: 'tool-search__search', say: 'found' },
      { when: 'files', ...search('file') },
      { when: 'mail', ...search('mail') },
      { say: 'ok' },
    ];
    const tested = await open({}, { script });
    await tested.say('files');
    await tested.say('hello');
    await tested.say('mail');
    expect(offered(tested).slice(2)).toEqual([
      ['box__read_file', 'box__write_file', 'tool-search__search'],
      ['box__read_file', 'box__write_file', 'tool-search__search'],
      ['box__send_mail', 'tool-search__search'],
    ]);
  });

  test('B-02 without a match the offered tools do not change, and the model is told', async () => {
    const tested = await open(
      {},
      { script: [{ afterTool: 'tool-search__search', say: '{{result.note}}' }, search('quantum')] },
    );
    expect((await tested.say('go')).text).toStartWith('Nothing matches');
    expect(offered(tested)[1]).toEqual(all);
  });

  test('B-02 with "none", the first step offers the search and the `always` tools', async () => {
    const tested = await open({ initial: 'none', always: ['box__wea*'] }, { script: [{ say: 'ok' }] });
    await tested.say('go');
    expect(offered(tested)).toEqual([['box__weather', 'tool-search__search']]);
  });

  test('B-02 with "keep", a search adds', async () => {
    const script = [
      { afterTool: 'tool-search__search', say: 'found' },
      { when: 'files', ...search('file', { limit: 1 }) },
      search('mail'),
    ];
    const tested = await open({ keep: true }, { script });
    await tested.say('files');
    await tested.say('mail');
    expect(offered(tested).at(-1)).toEqual(['box__read_file', 'box__send_mail', 'tool-search__search']);
  });

  test('a failed turn keeps its selection', async () => {
    const tested = await open(
      {},
      {
        script: [{ afterTool: 'tool-search__search', fail: { message: 'no', times: 99 } }, search('file')],
        policy: { maxStepRetries: 0 },
      },
    );
    expect((await tested.say('go')).result.finishReason).toBe('error');
    expect(await tested.stateOf('tool-search')).toEqual({ selectedTools: ['box__read_file', 'box__write_file'] });
  });
});

describe('the match of a query', () => {
  const names = (query: string) => rankTools(exports, query).map(({ name }) => name);

  test.each([
    ['file', ['read_file', 'write_file']],
    ['WRITE files', ['write_file', 'read_file']],
    ['mail somebody', ['send_mail']],
    ['city', ['weather']],
    ['', []],
    ['!?', []],
  ])('%p is %p', (query, found) => {
    expect(names(query)).toEqual(found);
  });

  test('a word of the name counts more than one of the description', () => {
    const tools = [
      { name: 'a', description: 'Reads the weather.' },
      { name: 'weather', description: 'Something.' },
    ];
    expect(rankTools(tools, 'weather').map(({ name }) => name)).toEqual(['weather', 'a']);
  });

  test('camelCase and other scripts are split into words, too', () => {
    const tools = [
      { name: 'readFile', description: '' },
      { name: 'other', description: '날씨를 알려준다' },
    ];
    expect(rankTools(tools, 'read').map(({ name }) => name)).toEqual(['readFile']);
    expect(rankTools(tools, '날씨').map(({ name }) => name)).toEqual(['other']);
  });
});
