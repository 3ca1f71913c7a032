import { expect, test } from 'bun:test';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

const file = JSON.stringify(join(import.meta.dir, 'write-standard-error.ts'));

test('a process goes on when standard error cannot be written', async () => {
  // A descriptor that is open only for reading refuses every write.
  const stderr = openSync('/dev/null', 'r');
  const program = `import { writeStandardError } from ${file};
    for (let line = 0; line < 100; line++) writeStandardError('a warning\\n');
    await Bun.sleep(50);
    console.log('alive');`;
  const child = Bun.spawn([process.execPath, '--eval', program], { stdout: 'pipe', stderr });
  closeSync(stderr);
  expect([(await child.stdout.text()).trim(), await child.exited]).toEqual(['alive', 0]);
});
