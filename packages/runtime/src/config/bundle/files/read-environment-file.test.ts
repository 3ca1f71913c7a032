import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parseEnvironmentFile } from './read-environment-file.ts';

const valuesOf = (text: string) => parseEnvironmentFile(text).values;

describe('a .env file', () => {
  test.each([
    ['A=b', { A: 'b' }],
    ['  A = b  ', { A: 'b' }],
    ['export A=b', { A: 'b' }],
    ['A=', { A: '' }],
    ['A=b # comment', { A: 'b' }],
    ['A=b#no-comment', { A: 'b#no-comment' }],
    ['# A=b\n\nB=c\r\nC=d', { B: 'c', C: 'd' }],
    ['A="b # c" # d', { A: 'b # c' }],
    ['A="line\\nnext\\t\\"q\\""', { A: 'line\nnext\t"q"' }],
    ["A='b\\n$X'", { A: 'b\\n$X' }],
    ['A=$HOME/x', { A: '$HOME/x' }],
    ['A=b\nA=c', { A: 'c' }],
    ['\u{FEFF}A=b', { A: 'b' }],
    ['A=x=y', { A: 'x=y' }],
  ])('%j gives %j', (text, values) => {
    expect(parseEnvironmentFile(text)).toEqual({ values, findings: [] });
  });

  test.each(['A', '=b', '1A=b', 'A B=c', 'A="b', "A='b", 'A="b" c', 'A-B=c'])(
    '%j is left out with a warning',
    (line) => {
      const { values, findings } = parseEnvironmentFile(`OK=1\n  ${line}\n`);
      expect(values).toEqual({ OK: '1' });
      expect(findings).toMatchObject([
        { severity: 'warning', problem: { code: 'E_ENV_FILE', file: '.env', line: 2, column: 3 } },
      ]);
    },
  );

  test('the warning about a value of several lines names the quotes, and not the value', () => {
    const { values, findings } = parseEnvironmentFile('KEY="-----BEGIN\nOK=1\n');
    expect(values).toEqual({ OK: '1' });
    expect(findings).toMatchObject([
      {
        problem: {
          message: 'In line 1 of .env, the quoted value does not end with the line; the line was ignored.',
          suggestion: 'Write the value on one line, and \\n for each line break: "a\\nb".',
        },
      },
    ]);
  });

  test.each([
    'PATH',
    'LD_PRELOAD',
    'DYLD_INSERT_LIBRARIES',
    'NODE_OPTIONS',
    'NODE_EXTRA_CA_CERTS',
    'BUN_OPTIONS',
    'ANTHROPIC_BASE_URL',
    'HTTPS_PROXY',
    'https_proxy',
    'GOONDAN_STATE_ROOT',
    'Path',
  ])('%s cannot be set by the file', (name) => {
    const { values, findings } = parseEnvironmentFile(`${name}=x`);
    expect(values).toEqual({});
    expect(findings).toMatchObject([
      { severity: 'warning', problem: { code: 'E_ENV_REFUSED', message: expect.stringContaining(name) } },
    ]);
  });

  test.each(['MY_PATH', 'PATHS', 'PROXY', 'BASE_URL_X', 'ANTHROPIC_API_KEY'])('%s can be set by the file', (name) => {
    expect(valuesOf(`${name}=x`)).toEqual({ [name]: 'x' });
  });

  test('any text is read in time proportional to its size', () => {
    for (const text of [
      ' '.repeat(1_000_000),
      `A=${' '.repeat(1_000_000)}x`,
      `A="${'\\'.repeat(1_000_000)}`,
      'export '.repeat(100_000),
    ]) {
      parseEnvironmentFile(text);
    }
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from('A=b"\'\\# \n\t$')) }),
        (text) => void parseEnvironmentFile(text),
      ),
    );
  });
});
