import { describe, expect, test } from 'bun:test';
import { childEnvironment } from './child-environment.ts';

const tags = { GOONDAN_RUN: 'run', GOONDAN_CHILD: 'child' };

describe("a child's environment", () => {
  test('has the inherited list, the declared variables and the tags', () => {
    const own = { PATH: '/bin', LC_ALL: 'C', TZ: 'UTC', https_proxy: 'http://proxy', HOME: undefined };
    expect(childEnvironment(own, { TOKEN: 'x' }, tags)).toEqual({
      PATH: '/bin',
      LC_ALL: 'C',
      TZ: 'UTC',
      https_proxy: 'http://proxy',
      TOKEN: 'x',
      ...tags,
    });
  });

  test('has no other variable of the operator', () => {
    const own = {
      ANTHROPIC_API_KEY: 'secret',
      OPENAI_BASE_URL: 'http://evil',
      GOONDAN_STATE_ROOT: '/x',
      GOONDAN_RUN: 'the outer run',
      BUN_OPTIONS: '--preload ./x.ts',
      NODE_OPTIONS: '--require x',
      LD_PRELOAD: 'x.so',
      XLC_ALL: 'C',
      path: '/evil',
    };
    expect(childEnvironment(own, {}, tags)).toEqual(tags);
  });

  test('may have a declared value instead of an inherited one', () => {
    expect(childEnvironment({ PATH: '/bin' }, { PATH: '/usr/bin' }, {})).toEqual({ PATH: '/usr/bin' });
  });

  test.each(['GOONDAN_RUN', 'GOONDAN_ANY', 'BUN_OPTIONS', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'NODE_OPTIONS'])(
    'rejects %s as a declared value',
    (name) => {
      expect(() => childEnvironment({}, { [name]: 'x' }, tags)).toThrow(
        expect.objectContaining({ code: 'E_RESOURCE_INVALID', message: expect.stringContaining(name) }),
      );
    },
  );

  test.each([
    ['', 'x'],
    ['A=B', 'x'],
    ['1A', 'x'],
    ['A B', 'x'],
    ['A\0', 'x'],
    ['A', 'x\0GOONDAN_RUN=other'],
  ])('rejects %p as a declared value', (name, value) => {
    expect(() => childEnvironment({}, { [name]: value }, tags)).toThrow(
      expect.objectContaining({ code: 'E_RESOURCE_INVALID' }),
    );
  });
});
