import { expect, test } from 'bun:test';
import { typedGdn } from './typed-gdn.ts';

test.each([
  ['npx gdn', { npm_command: 'exec', npm_lifecycle_event: 'npx' }],
  ['bunx gdn', { npm_command: 'exec', npm_lifecycle_event: 'bunx' }],
  ['pnpm exec gdn', { npm_command: 'exec', npm_config_user_agent: 'pnpm/10.34.9 npm/? node/v20.20.2 linux x64' }],
  ['gdn', { npm_command: 'run-script', npm_config_user_agent: 'pnpm/10.34.9 npm/? node/v20.20.2 linux x64' }],
  ['gdn', {}],
  ['gdn', { npm_command: 'exec' }],
  // A script of package.json may have any name.
  ['gdn', { npm_command: 'run-script', npm_lifecycle_event: 'npx' }],
] as const)('the person types %p if the package manager sets %j', (command, environment) => {
  expect(typedGdn(environment)).toBe(command);
});
