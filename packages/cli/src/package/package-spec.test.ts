import { expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { fixSpec, installedName } from './package-spec.ts';

test.each([
  ['./tools', '/home/me/tools'],
  ['../tools-1.0.0.tgz', '/home/tools-1.0.0.tgz'],
  ['.', '/home/me'],
  ['/srv/tools', '/srv/tools'],
  ['file:tools', '/home/me/tools'],
  ['file:../tools', '/home/tools'],
  ['tools', 'tools'],
  ['@acme/tools@^1.0.0', '@acme/tools@^1.0.0'],
  ['acme/tools', 'acme/tools'],
  ['not-there.tgz', 'not-there.tgz'],
  ['https://example.com/tools.tgz', 'https://example.com/tools.tgz'],
  ['git+ssh://git@example.com/acme/tools.git', 'git+ssh://git@example.com/acme/tools.git'],
])('%s is passed on as %s', (typed, expected) => {
  expect(fixSpec(typed, '/home/me')).toBe(expected);
});

test('a tarball without ./ is a path when it exists', async () => {
  const name = `gdn-spec-${crypto.randomUUID()}.tgz`;
  await Bun.write(`${tmpdir()}/${name}`, '');
  expect(fixSpec(name, tmpdir())).toBe(`${tmpdir()}/${name}`);
  await Bun.file(`${tmpdir()}/${name}`).delete();
});

test.each([
  ['tools', {}, { tools: '1.0.0' }, 'tools'],
  ['tools@^1.0.0', { tools: '1.0.0' }, { tools: '1.0.0' }, 'tools'],
  ['@acme/tools', {}, { '@acme/tools': '1.0.0' }, '@acme/tools'],
  ['mine@npm:tools@1.0.0', {}, { mine: 'npm:tools@1.0.0' }, 'mine'],
  ['/srv/tools', {}, { '@acme/tools': 'file:../tools' }, '@acme/tools'],
  ['/srv/tools', { a: '1.0.0', b: 'file:../tools' }, { a: '1.0.0', b: 'file:../tools' }, 'b'],
  ['acme/tools', { a: '1.0.0' }, { a: '1.0.0', tools: 'github:acme/tools' }, 'tools'],
  ['acme/tools', { tools: 'github:acme/tools' }, { tools: 'github:acme/tools' }, undefined],
])('npm installed %s, and package.json went from %j to %j: it is %s', (spec, before, after, expected) => {
  const [was, is] = [before, after].map((each) => new Map(Object.entries(each)));
  expect(installedName(spec, was ?? new Map(), is ?? new Map(), '/srv/swarm')).toBe(expected);
});
