import { describe, expect, test } from 'bun:test';
import { defaultNodeName, findNodeProblem, readLease, readListen, readNodeName } from './node-options.ts';

describe('the options of a node', () => {
  test.each(['node-1', 'a', 'Host.example', `x${'y'.repeat(63)}`])('%s is a name', (name) => {
    expect(readNodeName(name)).toBe(name);
  });

  test.each(['', '-a', 'a b', 'a/b', '../x', `x${'y'.repeat(64)}`, 'a\nb'])('%j is not a name', (name) => {
    expect(() => readNodeName(name)).toThrow();
  });

  test('the name of the machine is a name', () => {
    expect(readNodeName(defaultNodeName())).toBe(defaultNodeName());
  });

  test.each(['0.0.0.0:7444', 'localhost:1', '[::1]:65535', 'db.example:80'])('%s can be listened on', (text) => {
    expect(readListen(text)).toBe(text);
  });

  test.each(['7444', 'host', 'host:0', 'host:65536', ':7444', '::1:7444', 'a b:1', 'host:7444x'])(
    '%s cannot be listened on',
    (text) => {
      expect(() => readListen(text)).toThrow();
    },
  );

  test('a lease is 1 to 600 seconds', () => {
    expect([readLease('1'), readLease('0.5e1'), readLease('600')]).toEqual([1, 5, 600]);
    for (const text of ['0', '0.5', '601', '', ' ', 'x', 'Infinity']) expect(() => readLease(text)).toThrow();
  });

  test('an option that needs another one says so', () => {
    expect(findNodeProblem({}, false)).toBeUndefined();
    for (const [option, value] of Object.entries({ node: 'a', listen: 'a:1', tlsCert: 'x', tlsKey: 'x', lease: 5 })) {
      expect(findNodeProblem({ [option]: value }, false)).toContain("needs option '--store'");
    }
    expect(findNodeProblem({ tlsCert: 'x' }, true)).toContain("needs option '--tls-key'");
    expect(findNodeProblem({ tlsKey: 'x' }, true)).toContain("needs option '--tls-cert'");
    expect(findNodeProblem({ tlsCert: 'x', tlsKey: 'y' }, true)).toContain("needs option '--listen'");
    expect(findNodeProblem({ tlsCert: 'x', tlsKey: 'y', listen: 'a:1', node: 'n', lease: 5 }, true)).toBeUndefined();
    expect(findNodeProblem({ watch: true }, true)).toContain('`gdn deploy`');
    expect(findNodeProblem({ watch: true }, false)).toBeUndefined();
  });
});
