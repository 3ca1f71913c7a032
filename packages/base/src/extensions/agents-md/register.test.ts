import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type JsonObject, textOf } from '@goondan/types';
import { extension, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import { InstructionFinder } from './find-instructions.ts';
import { agentOpener, baseExtension } from '../../testing/base-extension.ts';

const openAgent = agentOpener();

const reading = (config: JsonObject = {}) => baseExtension('agents-md', config);

let place: string;
let workdir: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'agents-md-')));
  workdir = join(place, 'repository', 'packages', 'shop');
  mkdirSync(workdir, { recursive: true });
  mkdirSync(join(place, 'repository', '.git'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** Writes a file. The time of each is different, as if some time had passed. */
let time = 1_000;
function write(path: string, text: string): void {
  writeFileSync(join(place, path), text);
  utimesSync(join(place, path), ++time, time);
}

const start = (config: JsonObject = {}, { extensions = [], ...options }: ScriptedAgentOptions = {}) =>
  openAgent({ workdir, ...options, extensions: [reading(config), ...extensions] });

const own = 'repository/packages/shop/AGENTS.md';
const introduction = 'Follow these instructions of the working folder. The words of the user have precedence.';

describe('agents-md', () => {
  test('gives the model the file of the working folder, stores it once, and again when it changes', async () => {
    write(own, 'Be kind.\n');
    const tested = await start();
    const emitted = async (input: string) => (await tested.say(input)).trace?.layers[0]?.emitted;
    expect([await emitted('One'), await emitted('Two')]).toEqual([['append system agents-md'], []]);
    const text = `${introduction}\n\n## packages/shop/AGENTS.md\n\nBe kind.`;
    expect(tested.requests.map(({ messages }) => messages.filter(({ role }) => role === 'system'))).toEqual([
      [{ role: 'system', content: text }],
      [{ role: 'system', content: text }],
    ]);
    // The second request only extends the first, so a provider reads the first from its cache.
    const [first, second] = tested.requests.map(({ messages }) => JSON.stringify(messages).slice(0, -1));
    expect(second).toStartWith(first ?? '-');
    expect((await tested.messages()).filter(({ id }) => id === 'agents-md')).toMatchObject([
      { metadata: { pinned: true }, source: { type: 'extension', extensionName: 'agents-md' } },
    ]);

    const before = (await tested.messages()).map(({ id }) => id);
    write(own, 'Be brief.\n');
    await tested.say('Three');
    const after = await tested.messages();
    expect(after.map(({ id }) => id).slice(0, before.length)).toEqual(before);
    expect(after.filter(({ id }) => id === 'agents-md').map(textOf)).toEqual([text.replace('Be kind.', 'Be brief.')]);

    rmSync(join(place, own));
    await tested.say('Four');
    expect((await tested.messages()).some(({ id }) => id === 'agents-md')).toBe(false);
  });

  test('does nothing without a file, and with an empty one', async () => {
    const tested = await start();
    await tested.say('One');
    write(own, ' \n');
    await tested.say('Two');
    expect(await tested.messages()).toHaveLength(4);
    expect(tested.logs.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  test('stays when the conversation is compacted, and is back in the turn after a truncate', async () => {
    write(own, 'Be kind.');
    const compaction = baseExtension('message-compaction', { maxMessages: 4 }, 'compaction');
    const clear = extension('clear', ({ pipeline }) => {
      pipeline.register('turn', (ctx) => {
        if (ctx.inputEvent.input === 'Clear') ctx.emitMessageEvent({ type: 'truncate' });
        return ctx.next();
      });
    });
    const script = [{ when: '^Sum up', say: 'Numbers.' }, { say: 'Yes.' }];
    const tested = await start({}, { script, extensions: [compaction, clear] });
    for (const input of ['One', 'Two', 'Three', 'Four', 'Clear', 'Five']) {
      const { result } = await tested.say(input);
      expect(result.error).toBeUndefined();
      const { messages = [] } = tested.requests.at(-1) ?? {};
      // The layer that truncates runs inside, and the message is written again in the next turn.
      expect(JSON.stringify(messages).includes('Be kind.')).toBe(input !== 'Clear');
    }
    expect((await tested.messages()).filter(({ id }) => id === 'agents-md')).toHaveLength(1);
  });

  test('reads the folders around it up to the root of the repository, the nearest last', () => {
    write('AGENTS.md', 'Outside.');
    write('repository/AGENTS.md', 'Root.');
    write(own, 'Near.');
    const find = (search = {}) => {
      const { files } = new InstructionFinder({ names: ['AGENTS.md'], parents: true, maxBytes: 99, ...search }).find(
        workdir,
      );
      return files.map(({ path, text }) => `${path}: ${text}`);
    };
    expect(find()).toEqual(['AGENTS.md: Root.', 'packages/shop/AGENTS.md: Near.']);
    expect(find({ parents: false })).toEqual(['AGENTS.md: Near.']);
    write('repository/packages/CLAUDE.md', 'Middle.');
    expect(find({ names: ['AGENTS.md', 'CLAUDE.md'] })).toEqual([
      'AGENTS.md: Root.',
      'packages/CLAUDE.md: Middle.',
      'packages/shop/AGENTS.md: Near.',
    ]);
    rmSync(join(place, 'repository', '.git'), { recursive: true });
    expect(find()).toEqual(['AGENTS.md: Near.']);
  });

  test('reads a file when the working folder is the root of the disk', () => {
    write(own, 'Near.');
    const path = relative('/', join(place, own));
    const finder = new InstructionFinder({ names: [path], parents: false, maxBytes: 99 });
    expect(finder.find('/')).toEqual({ files: [{ path, text: 'Near.' }], problems: [] });
  });

  test('cuts what is too long, the farthest first, with one warning', async () => {
    write('repository/AGENTS.md', 'r'.repeat(100));
    write(own, 'Näher');
    const tested = await start({ maxBytes: 16 });
    for (const input of ['One', 'Two']) await tested.say(input);
    const system = tested.requests[0]?.messages.find(({ role }) => role === 'system');
    expect(system?.content).toEndWith(`## AGENTS.md\n\n${'r'.repeat(10)}\n\n## packages/shop/AGENTS.md\n\nNäher`);
    const warnings = tested.logs.flatMap(({ level, message }) => (level === 'warn' ? [message] : []));
    expect(warnings).toEqual([
      `${join(place, 'repository', 'AGENTS.md')} was cut, because all instructions may have 16 bytes.`,
    ]);
    // A character is not cut in the middle.
    const finder = new InstructionFinder({ names: ['AGENTS.md'], parents: false, maxBytes: 2 });
    expect(finder.find(workdir).files).toEqual([{ path: 'AGENTS.md', text: 'N' }]);
  });

  test('does not read a file outside of the repository, nor characters that people cannot see', async () => {
    write('secret.txt', 'The password.');
    symlinkSync(join(place, 'secret.txt'), join(place, own));
    write('repository/AGENTS.md', 'Be\u200b kind.\u0007');
    const tested = await start();
    await tested.say('One');
    const sent = JSON.stringify(tested.requests[0]?.messages);
    expect(sent).toContain('Be kind.');
    expect(sent).not.toContain('password');
    expect(tested.logs.map(({ message }) => message)).toContain(
      `${join(place, own)} leads out of ${join(place, 'repository')}.`,
    );
  });
});

test('agents-md reads a file of the same length again when its time is another one, and only then', () => {
  const finder = new InstructionFinder({ names: ['AGENTS.md'], parents: false, maxBytes: 100 });
  const found = () => finder.find(workdir).files.map(({ text }) => text);
  write(own, 'Be kind.');
  expect(found()).toEqual(['Be kind.']);
  write(own, 'Be calm.');
  expect(found()).toEqual(['Be calm.']);
  writeFileSync(join(place, own), 'Be fast.');
  utimesSync(join(place, own), time, time);
  expect(found()).toEqual(['Be calm.']);
});
