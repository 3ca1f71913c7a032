// Tests with real agents: how `gdn` shows the past of a conversation, and continues from a moment of the past.
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandsAbout, openPlace, outputOf } from '../testing/open-place.ts';
import { sampleBundle, withExtension } from '../testing/sample-bundle.ts';

const place = openPlace();
const { gdn, json } = commandsAbout(place);

/** `host` answers with all user texts so far, and with the number of turns that its extension counted. */
const remembering = {
  'goondan.yaml': sampleBundle(withExtension('recall')),
  'recall.ts': `
import type { ExtensionRegister } from '@goondan/types';
export const register: ExtensionRegister = (api) => {
  api.pipeline.register('turn', async (ctx) => {
    await api.state.set({ turns: ((await api.state.get())?.turns ?? 0) + 1 });
    return ctx.next();
  });
  api.pipeline.register('model', async (ctx) => {
    const reply = await ctx.next();
    const said = ctx.messages.filter(({ role }) => role === 'user').map(({ content }) => content).join(', ');
    const { turns } = await api.state.get();
    return { ...reply, content: [{ type: 'text', text: \`\${turns}: \${said}\` }] };
  });
};
`,
};

/** Removes ids and dates, which differ in every run. */
const table = (text: string) =>
  text
    .replaceAll(/(?<=^|turn )[0-9a-f]{8}[0-9a-f-]*(?=[ ,])/gm, 'ID')
    .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '*')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');

describe('gdn history', () => {
  test('lists events, and shows the conversation after each, with and without a running swarm', async () => {
    await place.write('bundle', remembering);
    await askInTurn('one', 'two');
    const asleep = await json('history host default --json');
    expect(asleep).toMatchObject({ agent: 'host', instanceKey: 'default', first: 1, last: 4 });
    const [first] = asleep.turns;
    expect(asleep.turns).toHaveLength(2);
    expect(first).toMatchObject({
      version: 1,
      result: { finishReason: 'text_response' },
      events: [
        { seq: 1, author: { kind: 'input', from: { kind: 'cli', name: 'gdn' } }, event: { type: 'append' } },
        { seq: 2, author: { kind: 'model', ref: 'Model/scripted' }, stepId: expect.any(String) },
      ],
    });
    const shown = await json('instance show host default --json');
    expect(await json('history host default --at 4 --json')).toEqual({ ...shown, seq: 4 });
    const early = await json(`history host default --at ${first.turnId} --json`);
    expect(early).toEqual(await json('history host default --at 2 --json'));
    expect(early).toMatchObject({ seq: 2, messages: shown.messages.slice(0, 2), extensions: { recall: { turns: 1 } } });
    expect((await gdn('history host default --at 3')).stdout).toBe('user  one\nassistant  1: one\nuser  two\n');
    expect((await gdn('history host default --at 0')).stdout).toBe('');

    await place.serve('bundle');
    expect(await json('history host default --json')).toEqual(asleep);
    expect(await json(`history host default --at ${first.turnId} --json`)).toEqual(early);
    expect((await gdn('send --input three --wait')).stdout).toBe('3: one, two, three\n');
    expect((await gdn('restart --agent host --fresh')).exitCode).toBe(0);
    expect((await gdn('send --input four --wait')).stdout).toBe('1: four\n');
    const page = await gdn('history host default --limit 5');
    expect(table(page.stdout)).toBe(
      [
        'ID  *  answered',
        '  5  *  person via cli        append    three',
        '  6  *  model Model/scripted  append    3: one, two, three',
        'reset-4  *  started anew',
        '  7  *  runtime               truncate',
        'ID  *  answered',
        '  8  *  person via cli        append    four',
        '  9  *  model Model/scripted  append    1: four',
        '',
      ].join('\n'),
    );
    expect(page.stderr).toBe(
      'There are earlier events: `gdn history host default --before 5 --limit 5 --bundle bundle`.\n',
    );
    expect(await json('history host default --before 5 --json')).toEqual({ ...asleep, last: 9 });
    expect((await json('history host default --at 6 --json')).messages).toHaveLength(6);
    expect((await json('history host default --at 7 --json')).messages).toEqual([]);
    expect((await gdn('stop')).exitCode).toBe(0);

    await gdn('instance delete host default --yes');
    await ask('five');
    expect(await json('history host default --json')).toMatchObject({ first: 1, last: 2, turns: [{ version: 1 }] });
  });

  test('rejects unknown moments and wrong use', async () => {
    await place.write('bundle', remembering);
    await ask('one');
    expect(await gdn('history host default --at 99')).toEqual({
      stdout: '',
      stderr:
        'E_HISTORY_RANGE: There is no event 99: the newest one is 2.\nList the events and turns with `gdn history host default --bundle bundle`.\n',
      exitCode: 3,
    });
    expect((await gdn('blame host default --at turn-x')).stderr).toContain('No turn "turn-x" is in the history');
    expect((await gdn('history host defualt')).stderr).toContain('Did you mean `default`?');
    expect((await gdn('history host default --at 1 --limit 3')).exitCode).toBe(2);
    expect((await gdn('history host default --limit 0')).exitCode).toBe(2);
    const first = await gdn('history host default --before 1');
    expect(first).toEqual({ stdout: 'There are no events before 1.\n', stderr: '', exitCode: 0 });
  });

  test('shows control characters of a text, in one row', async () => {
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ script: '- { say: "\\e[2Jgone\\nnext" }' }) });
    await ask('one');
    expect((await gdn('history host default')).stdout).toContain('append    ␛[2Jgone next\n');
    expect((await gdn('blame host default')).stdout).toContain('    ␛[2Jgone next\n');
  });
});

test('history, blame and instance show need no names while there is one conversation', async () => {
  await place.write('bundle', { 'goondan.yaml': sampleBundle({ agents: ['helper'] }) });
  const none = await gdn('history');
  expect([none.exitCode, none.stderr]).toEqual([3, expect.stringMatching(/^E_INSTANCE_UNKNOWN: There are no conv/)]);
  await ask('one');
  for (const command of ['history', 'blame', 'instance show']) {
    const named = await gdn(`${command} host default`);
    expect(named.stdout).toContain('one');
    expect(await gdn(command)).toEqual(named);
    expect(await gdn(`${command} host`)).toEqual(named);
    expect(await json(`${command} --json`)).toMatchObject({ agent: 'host', instanceKey: 'default' });
  }
  await gdn('fork host default --as other');
  expect(await gdn('blame host')).toEqual({
    stdout: '',
    stderr:
      'E_USAGE: There are 2 conversations, and the command does not say which one.\n' +
      'Add the agent and the key of one of them: `host default`, `host other`.\n',
    exitCode: 2,
  });
  const { turns } = await json('history host default --json');
  for (const command of ['history', 'blame']) {
    // The turn is in both conversations, and ran in the first one.
    const moment = `--at ${turns[0].turnId}`;
    expect(await gdn(`${command} ${moment}`)).toEqual(await gdn(`${command} host default ${moment}`));
    expect((await gdn(`${command} --at nothing`)).stderr).toStartWith('E_USAGE: There are 2 conversations, ');
    expect((await gdn(`${command} --at 1`)).stderr).toStartWith('E_USAGE: There are 2 conversations, ');
  }
  expect((await gdn('history helper')).stderr).toStartWith('E_INSTANCE_UNKNOWN: Agent "helper" has no conversations.');
});

describe('gdn blame', () => {
  test('names the calling agent, the model, the tool and its call', async () => {
    const script =
      `- { when: 'ask', call: { tool: agents__request, args: { target: helper, input: weather } } }\n` +
      `- { afterTool: agents__request, say: 'It says so.' }\n- { say: 'You said: {{input}}' }`;
    const agent = 'tools: [Tool/agents]';
    await place.write('bundle', { 'goondan.yaml': sampleBundle({ script, agents: ['helper'], agent }) });
    await ask('ask');
    const host = table((await gdn('blame host default')).stdout);
    expect(host).toMatch(
      /^#1 user {2}person via cli, turn ID, \*\n {4}ask\n#2 assistant {2}model Model\/scripted, turn ID step 0, \*\n {4}→ agents__request /,
    );
    expect(host).toMatch(/#3 tool {2}tool agents__request, call \S+, turn ID step 0, \*\n {4}.*You said: weather/);
    expect((await gdn('blame helper default')).stdout).toMatch(/^#1 user {2}agent host \(default\), turn [0-9a-f]{8}/);
  });

  test('names the events that a summary replaced', async () => {
    await place.write('bundle', {
      'goondan.yaml': sampleBundle(withExtension('clerk')),
      'clerk.ts': `
import { createSystemMessage, type ExtensionRegister } from '@goondan/types';
export const register: ExtensionRegister = (api) => {
  api.pipeline.register('turn', async (ctx) => {
    const [first, ...others] = ctx.conversationState.baseMessages;
    if (ctx.inputEvent.input === 'sum up' && first) {
      const message = createSystemMessage('They counted.', {}, { id: ctx.turnId + '.sum' });
      ctx.emitMessageEvent({ type: 'replace', targetId: first.id, message });
      for (const { id } of others) ctx.emitMessageEvent({ type: 'remove', targetId: id });
    }
    return ctx.next();
  });
};
`,
    });
    await askInTurn('one', 'two', 'sum up');
    const { messages } = await json('blame host default --json');
    expect(messages[0]).toMatchObject({
      seq: 6,
      author: { kind: 'extension', name: 'clerk' },
      how: 'replace',
      replaced: { count: 4, first: 1, last: 4, messages: [] },
    });
    const shown = table((await gdn('blame host default --show-replaced')).stdout);
    expect(shown).toStartWith(
      [
        '#6 system  extension clerk, turn ID, *',
        '    They counted.',
        '    in the place of 4 messages, #1 to #4',
        '      #1 user, person via cli: one',
        '      #2 assistant, model Model/scripted: You said: one',
        '      #3 user, person via cli: two',
        '      #4 assistant, model Model/scripted: You said: two',
        '#5 user  person via cli, turn ID, *',
      ].join('\n'),
    );
    await gdn('fork host default --as copy');
    const copy = table((await gdn('blame host copy')).stdout);
    expect(copy).toContain('#1 system  extension clerk, turn ID, from "default" #6, *\n');
    expect(copy).toContain('    there in the place of 4 messages, #1 to #4\n');
  });
});

describe('gdn fork', () => {
  test('without a running swarm: the new conversation has the old context, and its own from there on', async () => {
    await place.write('bundle', remembering);
    await askInTurn('one', 'two', 'three');
    const forked = await gdn('fork host default --at 4 --as second');
    expect(forked).toEqual({
      stdout: 'Conversation "second" of host is a copy of "default" after event 4, with 4 messages.\n',
      stderr: '',
      exitCode: 0,
    });
    expect(await ask('other', 'second')).toBe('3: one, two, other\n');
    expect(await ask('four')).toBe('4: one, two, three, four\n');
    expect((await json('history host second --json')).turns).toMatchObject([
      { turnId: 'fork-1', result: 'fork', fork: { instanceKey: 'default', seq: 4 } },
      { result: { finishReason: 'text_response' } },
    ]);
    expect((await gdn('history host second')).stdout).toContain('forked from "default" at 4\n');

    expect(await gdn('fork host default --as second')).toEqual({
      stdout: '',
      stderr:
        'E_INSTANCE_EXISTS: host has a conversation "second" already.\n' +
        'Choose another key, or delete that conversation with `gdn instance delete`.\n',
      exitCode: 3,
    });
    expect((await gdn('fork host nobody --as x')).exitCode).toBe(3);
    const late = await gdn('fork host default --at 99 --as x');
    expect(late.stderr).toStartWith('E_HISTORY_RANGE');
    expect(late.stderr).toContain('`gdn history host default --bundle bundle`');
    expect((await gdn('fork host default')).exitCode).toBe(2);
    const instances = join(place.workspace, 'instances');
    expect(readdirSync(instances).toSorted()).toEqual(['host~default', 'host~second']);
    expect(existsSync(join(instances, 'host~second', 'metadata.json'))).toBe(true);
  });

  test('in a running swarm: the fork answers, while the old conversation continues', async () => {
    await place.write('bundle', remembering);
    await place.serve('bundle');
    for (const input of ['one', 'two']) await gdn(`send --input ${input} --wait`);
    expect(await json('fork host default --at 2 --as second --json')).toEqual({
      forked: true,
      agent: 'host',
      instanceKey: 'second',
      from: 'default',
      seq: 2,
      messages: 2,
      unknownStates: [],
    });
    expect((await json('instance list --json')).map(({ instanceKey }: { instanceKey: string }) => instanceKey)).toEqual(
      ['default', 'second'],
    );
    expect((await gdn('send --input other --instance second --wait')).stdout).toBe('2: one, other\n');
    expect((await gdn('send --input three --wait')).stdout).toBe('3: one, two, three\n');
    expect((await gdn('fork host default --as second')).stderr).toStartWith('E_INSTANCE_EXISTS');
    const late = await gdn('fork host default --at 99 --as x');
    expect(late.stderr).toStartWith('E_HISTORY_RANGE');
    expect(late.stderr).toContain('`gdn history host default --bundle bundle`');
    expect((await gdn('stop')).exitCode).toBe(0);
    expect(await ask('more', 'second')).toBe('3: one, other, more\n');
  });
});

/** Sends several inputs to one swarm, and stops it. */
async function askInTurn(...inputs: string[]): Promise<void> {
  await place.serve('bundle');
  for (const input of inputs) expect((await gdn('send --wait --input', input)).exitCode).toBe(0);
  expect((await gdn('stop')).exitCode).toBe(0);
}

async function ask(input: string, instance = 'default'): Promise<string> {
  return outputOf(await gdn('run --trust --input', input, '--instance', instance));
}
