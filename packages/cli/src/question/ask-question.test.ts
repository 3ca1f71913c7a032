import { describe, expect, test } from 'bun:test';
import type { QuestionSummary } from '@goondan/runtime';
import { GoondanError, type JsonObject } from '@goondan/types';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { askQuestion } from './ask-question.ts';

const schema: JsonObject = {
  type: 'object',
  properties: { command: { type: 'string' }, times: { type: 'integer', maximum: 3 } },
  required: ['command'],
  additionalProperties: false,
};
const call: QuestionSummary = { ...fakeQuestion, kind: 'call', args: { command: 'ls' }, schema };

/**
 * Asks a person who types these lines. A line in a list is typed into the editor, and with an error the editor fails. Returns
 * everything on the screen.
 */
async function ask(
  question: QuestionSummary,
  typed: readonly (string | readonly [text: string | GoondanError])[],
  isEditing = false,
  wasTyping = false,
) {
  const screen: string[] = [];
  const edited: string[] = [];
  const left = [...typed];
  const answer = await askQuestion(
    question,
    {
      wasTyping,
      suggest: (text) => text.replaceAll(/`(gdn [^`]+)`/g, '`$1 --bundle b`'),
      show: (lines) => screen.push(...lines.map(({ text }) => text)),
      async readLine(prompt) {
        screen.push(prompt);
        const next = left.shift();
        return typeof next === 'object' ? expect.unreachable('a line was expected') : next;
      },
      async editText(text) {
        edited.push(text);
        const next = left.shift();
        if (typeof next !== 'object') return undefined;
        if (GoondanError.is(next[0])) throw next[0];
        return next[0];
      },
    },
    isEditing,
  );
  return { answer, screen, edited, left };
}

describe('the dialogue about a tool call', () => {
  test.each([
    [['y'], { decision: 'approved' }],
    [['n'], { decision: 'denied' }],
    [['n not on Friday'], { decision: 'denied', note: 'not on Friday' }],
    [['', 'ok', 'y'], { decision: 'approved' }],
    [['a', 't'], { decision: 'approved', always: 'tool' }],
    [['a', 'y', 'a'], { decision: 'approved', always: 'arguments' }],
    [['a', '', 'n'], { decision: 'denied' }],
    [[], undefined],
    [['a'], undefined],
    [['e'], undefined],
  ] as const)('%j is answered with %j', async (typed, answer) => {
    expect(await ask(call, typed)).toMatchObject({ answer, left: [] });
  });

  test.each([
    ['', 'Type one of these keys:'],
    ['may\u200bbe', '"may\\u200bbe" was not understood. Type one of these keys:'],
  ])('%j is not understood: every key is explained, and the question asked again', async (typed, problem) => {
    const { screen } = await ask(call, [typed, 'y']);
    expect(screen).toEqual([
      'Let it run? [y/n/e/a] ',
      problem,
      'y  yes: it runs this time, with exactly these arguments',
      'n  no; the words after it are the reason, which the agent reads: n not on Friday',
      'e  edit the arguments first',
      'a  always: not only this time, in this conversation',
      'Let it run? [y/n/e/a] ',
    ]);
  });

  test('always says what it covers, where, and how to revoke it', async () => {
    const { screen } = await ask(call, ['a', 'a']);
    expect(screen.slice(1)).toEqual([
      'Always, in this conversation of helper (default), without a question:',
      'a  every call of bash__exec with exactly these arguments',
      't  every call of bash__exec, with any arguments',
      'A changed tool asks again. `gdn approve --bundle b` lists it, and `gdn deny 3fa9c1d2 --bundle b` revokes it.',
      'Always what? [a/t, Enter goes back] ',
    ]);
  });

  test('always can be for the host of the arguments, as the person edited them', async () => {
    const fetching = { ...call, args: { url: 'https://example.com/a' } };
    const { answer, screen } = await ask(fetching, ['a', 'h']);
    expect(answer).toEqual({ decision: 'approved', always: 'host' });
    expect(screen).toContain('h  every call of bash__exec to https://example.com, with any other arguments');
    expect(screen.at(-1)).toBe('Always what? [a/h/t, Enter goes back] ');
    const { schema: _, ...loose } = fetching;
    const edited = await ask(loose, ['e', ['{ "url": "http://localhost:1/" }'], 'a', 'h']);
    expect(edited.answer).toEqual({ decision: 'approved', always: 'host', args: { url: 'http://localhost:1/' } });
    expect(edited.screen).toContain('h  every call of bash__exec to http://localhost:1, with any other arguments');
    // Without a host, the key means nothing.
    const unclear = await ask(call, ['a', 'h', 'a']);
    expect(unclear.answer).toEqual({ decision: 'approved', always: 'arguments' });
    expect(unclear.screen).toContain('"h" was not understood. Type one of these keys:');
  });

  test('names that come from outside print no lines of their own', async () => {
    const { screen } = await ask({ ...call, instanceKey: 'a\nt  nothing', toolName: 'b\u202e\rc' }, ['a', 'a']);
    expect(screen.slice(1, 3)).toEqual([
      'Always, in this conversation of helper (a\\u000at  nothing), without a question:',
      'a  every call of b\\u202e\\u000dc with exactly these arguments',
    ]);
  });

  test('a wrong edit stays in the editor, with the field that is wrong; a right one is shown as a difference', async () => {
    const wrong = ['{ "command": 1 }', '{ "command": "ls" ', '{ "command": "ls", "times": 9 }'];
    const right = '{ "command": "ls -l" }';
    const { answer, screen, edited } = await ask(call, ['e', ...wrong.map((each) => [each] as const), [right], 'y']);
    expect(answer).toEqual({ decision: 'approved', args: { command: 'ls -l' } });
    expect(edited).toEqual(['{\n  "command": "ls"\n}', ...wrong]);
    expect(screen[2]).toContain('command');
    expect(screen[3]).toBe('This is not JSON: the text ends too early, at line 1, column 19.');
    expect(screen[4]).toContain('times');
    expect(screen.slice(5)).toEqual([
      ' {',
      '-  "command": "ls"',
      '+  "command": "ls -l"',
      ' }',
      'Let it run with these arguments? [y/n/e/a] ',
    ]);
  });

  test('edited arguments can be denied, edited again, taken back, and always be allowed', async () => {
    const edit = [`{ "command": "pwd" }`] as const;
    const again = [`{ "command": "ls" }`] as const;
    expect((await ask(call, ['e', edit, 'n no'])).answer).toEqual({ decision: 'denied', note: 'no' });
    expect((await ask(call, ['e', edit, 'a', 'a'])).answer).toEqual({
      decision: 'approved',
      args: { command: 'pwd' },
      always: 'arguments',
    });
    const back = await ask(call, ['e', edit, 'e', again, 'y']);
    expect(back.answer).toEqual({ decision: 'approved' });
    expect(back.edited[1]).toBe('{\n  "command": "pwd"\n}');
    expect(back.screen.slice(-2)).toEqual(['The arguments are as they were.', 'Let it run? [y/n/e/a] ']);
    expect((await ask(call, ['e', [''], 'y'])).answer).toEqual({ decision: 'approved' });
  });

  test('an editor that fails goes back to the question, with the edit before', async () => {
    const failed = new GoondanError('E_USAGE', 'The editor "vim" ended with exit code 1.', {
      suggestion: 'Set $EDITOR.',
    });
    const { answer, screen } = await ask(call, ['e', [`{ "command": "pwd" }`], 'e', [failed], 'y']);
    expect(screen.slice(-3)).toEqual([failed.message, 'Set $EDITOR.', 'Let it run with these arguments? [y/n/e/a] ']);
    expect(answer).toEqual({ decision: 'approved', args: { command: 'pwd' } });
    expect(ask(call, [[failed]], true)).rejects.toBe(failed);
  });

  test('can begin with the editor', async () => {
    const { answer, screen } = await ask(call, [[`{ "command": "pwd" }`], 'y'], true);
    expect(answer).toEqual({ decision: 'approved', args: { command: 'pwd' } });
    expect(screen.at(-1)).toBe('Let it run with these arguments? [y/n/e/a] ');
  });
});

describe('the dialogue about something else', () => {
  test.each([
    ['change', 'Change the bundle? [y/n] '],
    ['budget', 'Raise the budget? [y/n] '],
    ['page', 'Did you open the page? [y/n] '],
  ] as const)('%s has no keys but y and n', async (kind, prompt) => {
    const { answer, screen } = await ask({ ...call, kind }, ['e', 'a', 'y']);
    expect(answer).toEqual({ decision: 'approved' });
    expect(screen.filter((text) => text === prompt)).toHaveLength(3);
  });
});

describe('the dialogue about a form', () => {
  const form: QuestionSummary = {
    ...fakeQuestion,
    kind: 'form',
    args: {},
    schema: {
      type: 'object',
      properties: {
        branch: {
          type: 'string',
          title: 'Branch',
          oneOf: [
            { const: 'main', title: 'Main' },
            { const: 'dev', title: 'Dev' },
          ],
        },
        count: { type: 'integer', minimum: 1, maximum: 9, description: 'Number of copies' },
        force: { type: 'boolean', default: false },
        note: { type: 'string' },
        parts: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] } },
      },
      required: ['branch', 'count'],
    },
  };

  test('N-04 asks for each field, checks it at once, and shows the answer before it is sent', async () => {
    const { answer, screen } = await ask(form, ['2', '', '12', 'x', '3', '', 'hello', '1,3', '', 'y']);
    expect(answer).toEqual({
      decision: 'approved',
      content: { branch: 'dev', count: 3, force: false, note: 'hello', parts: ['a', 'c'] },
    });
    expect(screen).toEqual([
      '`/back` goes back to the field before, and `/decline` declines, with a reason if you like.',
      'Branch (branch) (1 of 5): a name or a number from 1 to 2',
      '    1  Main',
      '    2  Dev',
      'Branch: ',
      'count (2 of 5): a whole number from 1 to 9',
      '    Number of copies',
      'count: ',
      'count is needed: a whole number from 1 to 9.',
      'count (2 of 5): a whole number from 1 to 9',
      '    Number of copies',
      'count: ',
      'count must be 9 or less.',
      'count (2 of 5): a whole number from 1 to 9',
      '    Number of copies',
      'count: ',
      'count must be a whole number from 1 to 9.',
      'count (2 of 5): a whole number from 1 to 9',
      '    Number of copies',
      'count: ',
      'force (3 of 5): y or n, optional',
      'force [Enter: no]: ',
      'note (4 of 5): a text, optional',
      'note [Enter skips]: ',
      'parts (5 of 5): names or numbers from 1 to 3 with commas, optional',
      '    1  a',
      '    2  b',
      '    3  c',
      'parts [Enter skips]: ',
      'Branch: Dev',
      'count: 3',
      'force: no',
      'note: hello',
      'parts: a, c',
      'Send this answer? [y/n/e] ',
      'Type one of these keys:',
      'y  yes: the answer is sent as it is shown',
      'n  no; the words after it are the reason, which the agent reads: n not on Friday',
      'e  go through the fields again',
      'Send this answer? [y/n/e] ',
    ]);
  });

  test('goes back, goes through the fields again with the values that were typed, and leaves fields out', async () => {
    const { answer, screen } = await ask(form, [
      'Main',
      '3',
      'y',
      '/back',
      'n',
      '',
      '',
      'e',
      '',
      '4',
      '/skip',
      '',
      '',
      'y',
    ]);
    expect(answer).toEqual({ decision: 'approved', content: { branch: 'main', count: 4 } });
    expect(screen).toContain('Branch [Enter: Main]: ');
    expect(screen).toContain('force [Enter: yes]: ');
    expect(screen).toContain('note: (left out)');
  });

  test.each([
    [['/decline'], { decision: 'denied' }],
    [['1', '/decline not yours'], { decision: 'denied', note: 'not yours' }],
    [['1', '1', '', '', '', 'n later'], { decision: 'denied', note: 'later' }],
    [['1'], undefined],
    [['1', '1', '', '', ''], undefined],
  ] as const)('can be declined or left at any time: %j', async (typed, answer) => {
    expect(await ask(form, typed)).toMatchObject({ answer, left: [] });
  });

  test('N-04 takes a choice in another case, if only one fits', async () => {
    const choices = { type: 'object', properties: { colour: { type: 'string', enum: ['Red', 'blue', 'Blue', '5'] } } };
    const choose = async (...typed: string[]) => (await ask({ ...form, schema: choices }, typed)).answer;
    const colour = (value: string) => ({ decision: 'approved', content: { colour: value } }) as const;
    expect(await choose('RED')).toEqual(colour('Red'));
    expect(await choose('Blue')).toEqual(colour('Blue'));
    expect(await choose('5')).toEqual(colour('5'));
    expect(await choose('BLUE', '3')).toEqual(colour('Blue'));
  });

  test('N-04 names a field once, also if its title looks like that of another field', async () => {
    const properties = { one: { type: 'string', title: 'Age' }, two: { type: 'string', title: 'age' } };
    const { screen } = await ask({ ...form, schema: { type: 'object', properties } }, ['', '/decline']);
    expect(screen.filter((line) => line.includes(' of 2)'))).toEqual([
      'Age ("one") (1 of 2): a text, optional',
      'age ("two") (2 of 2): a text, optional',
    ]);
  });

  test('N-04 numbers the lines of choices, unless a number is the name of a choice in another line', async () => {
    const choose = async (field: JsonObject, typed: readonly string[]) =>
      ask({ ...form, schema: { type: 'object', properties: { port: field } } }, typed);
    const own = await choose({ type: 'string', enum: ['1', '2', 'other'] }, ['3']);
    expect(own.answer).toMatchObject({ content: { port: 'other' } });
    const oneOf = [
      { const: '3', title: 'Three' },
      { const: '1', title: '1' },
    ];
    const other = await choose({ type: 'string', oneOf }, ['2', '1']);
    expect(other.answer).toMatchObject({ content: { port: '1' } });
    expect(other.screen.slice(1, 6)).toEqual([
      'port (1 of 1): one of these names, optional',
      '    -  Three ("3")',
      '    -  1',
      'port [Enter skips]: ',
      'port must be one of these names.',
    ]);
    const several = await choose({ type: 'array', items: { type: 'string', enum: ['2', '1'] } }, ['1, 2']);
    expect(several.answer).toMatchObject({ content: { port: ['1', '2'] } });
    expect(several.screen[1]).toBe('port (1 of 1): some of these names with commas, optional');
  });

  test('with one field needs no second look', async () => {
    const one = { ...form, schema: { type: 'object', properties: { name: { type: 'string', minLength: 2 } } } };
    const { answer, screen } = await ask(one, ['a', '//etc']);
    expect(answer).toEqual({ decision: 'approved', content: { name: '/etc' } });
    expect(screen[0]).toBe('`/decline` declines, with a reason if you like.');
  });

  test('N-04 with one field needs a second look if the person was typing something else', async () => {
    const one = { ...form, schema: { type: 'object', properties: { name: { type: 'string' } } } };
    const { answer, screen } = await ask(one, ['of a message', 'e', 'Ann', 'y'], false, true);
    expect(answer).toEqual({ decision: 'approved', content: { name: 'Ann' } });
    expect(screen.slice(3, 5)).toEqual(['name: of a message', 'Send this answer? [y/n/e] ']);
  });

  test('N-04 has titles that print no lines of their own, also in a mistake', async () => {
    const properties = { age: { type: 'integer', title: 'Age\nLet it run? [y/n] ' } };
    const { screen } = await ask({ ...form, schema: { type: 'object', properties } }, ['old', '9']);
    expect(screen).toContain('Age\\u000aLet it run? [y/n]  must be a whole number.');
    expect(screen.join('')).not.toContain('\n');
  });

  test('that cannot be read can only be declined', async () => {
    const { answer, screen } = await ask({ ...form, schema: { type: 'array' } }, ['y', 'n broken']);
    expect(answer).toEqual({ decision: 'denied', note: 'broken' });
    expect(screen[0]).toStartWith('This question cannot be answered: ');
  });
});
