import { expect, test } from 'bun:test';
import { typedGdn } from './typed-gdn.ts';

test.each([
  ['npx gdn', { npm_command: 'exec', npm_lifecycle_event: 'npx' }],
  ['gdn', {}],
  ['gdn', { npm_command: 'exec' }],
  // A script of package.json may have any name.
  ['gdn', { npm_command: 'run-script', npm_lifecycle_event: 'npx' }],
] as const)('the person types %p if npm sets %j', (command, environment) => {
  expect(typedGdn(environment)).toBe(command);
});
