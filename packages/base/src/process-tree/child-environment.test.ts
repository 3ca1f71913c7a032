import { expect, test } from 'bun:test';
import { childEnvironment, commandEnvironment } from './child-environment.ts';

const own = {
  PATH: '/bin',
  LC_ALL: 'C',
  SHELL: '/bin/sh',
  SECRET: 'sk-1',
  GOONDAN_RUN: 'run',
  GOONDAN_CHILD: undefined,
};

test('a process gets the variables programs need, the declared ones, and nothing else', () => {
  expect(childEnvironment(own, { A: '1' })).toEqual({ PATH: '/bin', LC_ALL: 'C', A: '1', GOONDAN_RUN: 'run' });
  expect(childEnvironment(own, {}, ['SHELL'])).toMatchObject({ SHELL: '/bin/sh' });
});

test('declarations cannot override the tags by which it is ended', () => {
  const declared = { GOONDAN_RUN: 'other', GOONDAN_TREE: 'other', TERM: 'xterm', PATH: '/own' };
  expect(commandEnvironment(own, declared, 'GOONDAN_TREE=mine')).toEqual({
    PATH: '/own',
    LC_ALL: 'C',
    TERM: 'xterm',
    GOONDAN_RUN: 'run',
    GOONDAN_TREE: 'mine',
  });
  expect(commandEnvironment(own, {}, 'GOONDAN_TREE=mine').TERM).toBe('dumb');
});
