import { describe, expect, test } from 'bun:test';
import { type AddOptions, readEntry, variablesOf } from './read-entry.ts';

describe('the arguments of gdn mcp add', () => {
  test('a command with its arguments and variables', () => {
    expect(readEntry('files', ['npx', '-y', 'server'], { env: ['A=b=c', 'TOKEN', 'E='], cwd: 'sub' })).toEqual({
      command: 'npx',
      args: ['-y', 'server'],
      env: { A: 'b=c', TOKEN: '${TOKEN}', E: '' },
      cwd: 'sub',
    });
    expect(readEntry('files', ['server'], {})).toEqual({ command: 'server' });
  });

  test('an address with its headers', () => {
    const url = 'https://${HOST}/mcp';
    expect(readEntry('web', [], { url, header: ['Authorization=Bearer ${TOKEN}'] })).toEqual({
      type: 'http',
      url,
      headers: { Authorization: 'Bearer ${TOKEN}' },
    });
  });

  const wrong: [string, string, string[], AddOptions][] = [
    ['neither command nor url', 'files', [], {}],
    ['both', 'files', ['x'], { url: 'http://a.example' }],
    ['an invalid name', 'My_Files', ['x'], {}],
    ['a name that is too long', 'a'.repeat(41), ['x'], {}],
    ['an invalid address', 'files', [], { url: 'ftp://a.example' }],
    ['an invalid variable', 'files', ['x'], { env: ['=x'] }],
    ['an invalid header', 'files', [], { url: 'http://a.example', header: ['a b=c'] }],
    ['a header for a command', 'files', ['x'], { header: ['a=b'] }],
    ['a variable for an address', 'files', [], { url: 'http://a.example', env: ['A=b'] }],
    ['a folder for an address', 'files', [], { url: 'http://a.example', cwd: 'x' }],
  ];
  test.each(wrong)('wrong: %s', (_what, name, command, options) => {
    let thrown: unknown;
    try {
      readEntry(name, command, options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'E_USAGE', suggestion: expect.stringMatching(/\S/) });
  });

  test('the variables that must be set', () => {
    const entry = { command: '${A}', args: ['${B:-x}', '${GOONDAN_WORKDIR}'], env: { X: '${C}' }, cwd: '${A}' };
    expect(variablesOf(entry)).toEqual(['A', 'C']);
    expect(variablesOf({ type: 'http', url: 'https://${H}/', headers: { x: '${T}' } })).toEqual(['H', 'T']);
  });
});
