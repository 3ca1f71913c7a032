import { describe, expect, test } from 'bun:test';
import type { QuestionSummary } from '@goondan/runtime';
import type { JsonObject } from '@goondan/types';
import { createColors } from '../colors.ts';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { describeQuestion } from './describe-question.ts';
import { showText } from './show-text.ts';

const question = {
  ...fakeQuestion,
  eventId: 'e1',
  args: { command: 'ls\nrm -rf /' },
  reason: 'It is a shell.',
};
const piped = { colors: createColors(false), isWatched: false, columns: undefined };

describe('the description of a waiting call', () => {
  test('has everything that a person must judge', () => {
    expect(describeQuestion(question, piped)).toBe(
      [
        '3fa9c1d2  helper (default) wants to run bash__exec',
        '    {"command":"ls\\nrm -rf /"}',
        '    It is a shell.',
        '    turn e1, asked 2026-01-01T00:00:00Z, expires 2026-01-02T00:00:00Z',
        '',
      ].join('\n'),
    );
  });

  test('an address that people copy, and arguments with runs of spaces, stay whole in a narrow terminal', () => {
    const [narrow, url] = [{ ...piped, columns: 40 }, `https://a.example/${'x'.repeat(50)}`];
    expect(describeQuestion({ ...question, kind: 'page', url }, narrow)).toContain(`\n    ${url}\n`);
    const args = { command: `ls ${' '.repeat(40)}; rm` };
    expect(describeQuestion({ ...question, args }, narrow)).toContain(`\n    ${JSON.stringify(args)}\n`);
  });

  test('breaks between words in a narrow terminal, except in the lines of a file', () => {
    const args = {
      changesetId: 'c1',
      digest: 'd',
      files: [{ path: 'a', change: 'added', diff: `+${'x '.repeat(30)}` }],
    };
    const narrow = { ...piped, columns: 40 };
    const shown = describeQuestion({ ...question, kind: 'change', args, reason: 'word '.repeat(20) }, narrow).split(
      '\n',
    );
    expect(shown.filter((line) => line.length > 40)).toEqual([`    +${'x '.repeat(30)}`]);
    expect(shown.join(' ').match(/word /g)).toHaveLength(20);
  });

  test('L-05 has the difference of a change, by which agent, and the number of lines that are left', () => {
    const files = [
      { path: 'a.md', change: 'changed', diff: '--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-old\n+new\n' },
      { path: 'b.ts', change: 'added', diff: `--- /dev/null\n+++ b/b.ts\n@@ -0,0 +1,300 @@\n${'+x\n'.repeat(300)}` },
    ];
    const change: QuestionSummary = {
      ...question,
      toolName: 'bundle__commit',
      kind: 'change',
      args: { changesetId: 'c1', digest: 'd', files },
      reason: 'Agent helper wants to change 2 files of its bundle.',
    };
    const shown = describeQuestion(change, piped).split('\n');
    expect(shown.slice(0, 8)).toEqual([
      '3fa9c1d2  helper (default) wants to change its bundle',
      '    changed  a.md  (+1 -1)',
      '    @@ -1 +1 @@',
      '    -old',
      '    +new',
      '    added  b.ts  (+300)',
      '    @@ -0,0 +1,300 @@',
      '    +x',
    ]);
    expect(shown.slice(-4)).toEqual([
      '    … and 104 lines more: see all of them with `gdn approve --json`',
      '    Agent helper wants to change 2 files of its bundle.',
      '    changeset c1, turn e1, asked 2026-01-01T00:00:00Z, expires 2026-01-02T00:00:00Z',
      '',
    ]);
    const colors = createColors(true);
    expect(describeQuestion(change, { ...piped, colors })).toContain(
      `    ${colors.red('-old')}\n    ${colors.green('+new')}\n`,
    );
  });

  test('counts one line that is left, writes out the id of a change, and says nothing if no line is left', () => {
    const describeLines = (count: number, kind?: 'change') => {
      const diff = `--- /dev/null\n+++ b/a\n@@ -0,0 +1,${count} @@\n${'+x\n'.repeat(count)}`;
      const args = { changesetId: '\u001b[1A', files: [{ path: 'a', change: 'added', diff }] };
      return describeQuestion({ ...question, ...(kind && { kind }), args }, piped);
    };
    expect(describeLines(200, 'change')).toContain('… and 1 line more: see all of them with `gdn approve --json`');
    expect(describeLines(200, 'change')).toContain('changeset \\u001b[1A, turn');
    expect(describeLines(199, 'change')).not.toContain('more');
    // The arguments of a tool call can look like a change.
    expect(describeLines(1)).toContain('    {"changesetId":');
  });

  test.each([
    {},
    { changesetId: 'c1' },
    { changesetId: 'c1', files: [{ change: 'added', diff: '' }] },
    { changesetId: 'c1', files: [{ path: 'a', change: 'changed' }] },
    { changesetId: 'c1', files: [null] },
    { changesetId: 'c1', files: [{ path: 'a', change: 'moved', diff: '' }] },
  ] as JsonObject[])('shows the arguments of a change as they are if they are not a difference: %j', (args) => {
    const shown = describeQuestion({ ...question, kind: 'change', args }, piped);
    expect(shown.split('\n')[1]).toBe(`    ${JSON.stringify(args)}`);
  });

  test('hides nothing: invisible characters are written out, long texts are counted', () => {
    const tricky = {
      ...question,
      reason: 'ok\u001b[2K\u001b[1A',
      args: { command: `echo \u202e hi \u200b\u{e0041}`, x: 'y'.repeat(5_000) },
    };
    const shown = describeQuestion(tricky, piped);
    expect(shown).toContain('ok\\u001b[2K\\u001b[1A');
    expect(shown).toContain('echo \\u202e hi \\u200b\\u{e0041}');
    expect(shown).toMatch(/… and \d+ characters more: see them with `gdn approve --json`/);
    // oxlint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u200b\u202e]/u);
  });

  test('N-04 names the extension and the server that ask', () => {
    const askedBy = { extension: 'mcp', server: 'git\u202ehub' };
    expect(describeQuestion({ ...question, askedBy }, piped)).toContain(
      '    server git\\u202ehub, extension mcp, turn e1, asked ',
    );
  });

  test('N-04 shows the whole address of a page and its host, which letters of other scripts cannot imitate', () => {
    const url = `https://xn--ggle-0nda.com/login?${'x'.repeat(5_000)}`;
    const page = { ...question, kind: 'page' as const, args: {}, reason: 'Sign in.', askedBy: { server: 'mail' } };
    expect(describeQuestion({ ...page, url }, piped)).toBe(
      [
        '3fa9c1d2  helper (default) asks you to open a page',
        '    Sign in.',
        '    A page of xn--ggle-0nda.com, which opens only if you open it:',
        `    ${url}`,
        '    server mail, turn e1, asked 2026-01-01T00:00:00Z, expires 2026-01-02T00:00:00Z',
        '',
      ].join('\n'),
    );
    expect(describeQuestion({ ...page, url: 'https://gооgle.com/' }, piped)).toContain('A page of xn--');
    expect(describeQuestion({ ...page, url: 'https://google.com@evil.org/' }, piped)).toContain('A page of evil.org,');
  });

  test('N-04 lists the fields of a form, but not if they are asked one by one', () => {
    const schema = {
      type: 'object',
      properties: {
        cake: { type: 'string', title: 'Ca\u202eke', enum: ['lemon'] },
        eggs: { type: 'integer', minimum: 1, default: 2 },
      },
      required: ['cake'],
    };
    const form = { ...question, kind: 'form' as const, args: {}, reason: 'Which cake?', schema };
    const fields = [
      '    Ca\\u202eke (cake): a name or a number from 1 to 1',
      '        1  lemon',
      '    eggs: a whole number, at least 1, optional, default 2',
    ];
    const rest = '    turn e1, asked 2026-01-01T00:00:00Z, expires 2026-01-02T00:00:00Z';
    const lines = (listsFields: boolean) => describeQuestion(form, piped, listsFields).split('\n');
    expect(lines(true)).toEqual(['3fa9c1d2  helper (default) asks you', '    Which cake?', ...fields, rest, '']);
    expect(lines(false)).toEqual(['3fa9c1d2  helper (default) asks you', '    Which cake?', rest, '']);
  });

  test('N-04 writes out variation selectors, which can hide sentences, but not the one after an emoji', () => {
    expect(showText('a\ufe01b\u{e0101}c\u034f\u3164 ☂\ufe0f')).toBe('a\\ufe01b\\u{e0101}c\\u034f\\u3164 ☂\ufe0f');
  });

  test('leaves letters of all scripts unchanged', () => {
    expect(showText('Grüße, 안녕 🙂 مرحبا')).toBe('Grüße, 안녕 🙂 مرحبا');
  });
});
