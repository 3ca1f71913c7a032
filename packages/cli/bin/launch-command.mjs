/**
 * How Bun is started to be `gdn`: nothing in the folder where it was typed decides what runs, so Bun starts elsewhere and is
 * told that folder as its first argument.
 */
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';

/** `folder`: where it was typed; empty when that is gone. */
export function launchCommand(bun, folder, args) {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const flags = [
    `--config=${devNull}`,
    `--tsconfig-override=${devNull}`,
    '--no-env-file',
    '--no-install',
    '--no-orphans',
  ];
  return { command: [bun, ...flags, main, folder, ...args], cwd: '/' };
}
