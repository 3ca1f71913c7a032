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
    ['A=b#comment', { A: 'b' }],
    ['# A=b\n\nB=c\r\nC=d', { B: 'c', C: 'd' }],
    ['A="b # c" # d', { A: 'b # c' }],
    ['A="line\\nnext"', { A: 'line\nnext' }],
    ['A="line\nPATH=next"\nB=c', { A: 'line\nPATH=next', B: 'c' }],
    ["A='b\\n$X'", { A: 'b\\n$X' }],
    ['A=$HOME/x', { A: '$HOME/x' }],
    ['A=b\nA=c', { A: 'c' }],
    ['A=x=y', { A: 'x=y' }],
  ])('%j gives %j', (text, values) => {
    expect(parseEnvironmentFile(text)).toEqual({ values, findings: [] });
  });

  test('a name that cannot be one is left out with a warning, which does not show it', () => {
    const { values, findings } = parseEnvironmentFile('OK=1\n  part-of-a-secret==\n');
    expect(values).toEqual({ OK: '1' });
    expect(findings).toMatchObject([
      { severity: 'warning', problem: { code: 'E_ENV_FILE', file: '.env', line: 2, column: 3 } },
    ]);
    expect(JSON.stringify(findings)).not.toContain('secret');
  });

  test('a line without a name or without a value is left out with a warning, which does not show it', () => {
    for (const line of ['secret', ' =secret', 'a secret', 'export secret', '  secret "x"']) {
      for (const before of ['OK=1\n', '# A\rOK="1"\r\n']) {
        const { values, findings } = parseEnvironmentFile(`${before}\n${line}\nB='c\n=d' # e\n\n`);
        expect(values).toEqual({ OK: '1', B: 'c\n=d' });
        const place = { file: '.env', line: before.split(/\r\n|\n|\r/).length + 1, column: 1 + line.search(/\S/) };
        expect(findings).toMatchObject([{ severity: 'warning', problem: { code: 'E_ENV_FILE', ...place } }]);
        expect(JSON.stringify(findings)).not.toContain('secret');
      }
    }
  });

  test('a quote that is never closed takes no other line', () => {
    const { values, findings } = parseEnvironmentFile('A="b\nwrong\nC=d');
    expect(values).toEqual({ A: '"b', C: 'd' });
    expect(findings).toMatchObject([{ problem: { line: 2 } }]);
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
    for (const line of [`${name}=x`, ` export ${name} = "x"`]) {
      const { values, findings } = parseEnvironmentFile(`MY_${name}=x\n${line}\n`);
      expect(values).not.toHaveProperty(name);
      const message = expect.stringContaining(` ${name};`);
      expect(findings).toContainEqual(
        expect.objectContaining({
          severity: 'warning',
          problem: expect.objectContaining({ code: 'E_ENV_FILE', message, line: 2 }),
        }),
      );
    }
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
