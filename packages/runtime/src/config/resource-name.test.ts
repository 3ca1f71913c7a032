import { describe, expect, test } from 'bun:test';
import { instanceFolderName } from '../workspace/layout/instance-paths.ts';
import { bundleJsonSchema } from './bundle/kinds/bundle-json-schema.ts';
import { resourceNamePattern } from './resource-name.ts';

const valid = ['a', 'A', 'extA', 'GPT-4.1', 'team.Writer', 'a.b.c', 'a-', 'a-.-b', `a${'B'.repeat(62)}`];
const invalid = [
  '',
  '1a',
  '-a',
  '.a',
  'a.',
  'a..b',
  '..',
  '../x',
  'a/b',
  'a_b',
  'a b',
  'a\n',
  'é',
  `a${'b'.repeat(63)}`,
];

describe('a resource name', () => {
  test.each(valid)('%j is valid, and safe as the name of a file', (name) => {
    expect(resourceNamePattern.test(name)).toBe(true);
    expect(instanceFolderName(name, 'default')).toMatch(/^[a-z0-9_][a-z0-9_-]*~default$/);
  });

  test.each(invalid)('%j is refused', (name) => {
    expect(resourceNamePattern.test(name)).toBe(false);
  });

  test('editors check names by the same pattern', () => {
    expect(JSON.stringify(bundleJsonSchema())).toContain(JSON.stringify(resourceNamePattern.source));
  });
});
