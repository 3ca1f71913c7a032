import { expect, test } from 'bun:test';
import { join } from 'node:path';

const streams = JSON.stringify(join(import.meta.dir, 'standard-streams.ts'));

test('a slow reader gets a long text, and the process does not wait for it', async () => {
  const program = `import { openOutput } from ${streams};
    const [output, told] = [1, 2].map((descriptor) => openOutput(descriptor, () => process.exit(1)));
    output.write('x'.repeat(3_000_000), () => told.write('taken\\n'));
    output.write('end', () => process.exit(7));
    told.write('going on\\n');`;
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe', stderr: 'pipe' });
  const said = child.stderr.getReader();
  const next = async () => new TextDecoder().decode((await said.read()).value);
  // This test has not read the text yet. If the pipe has room for it already, both lines may come together.
  let lines = await next();
  expect(lines).toStartWith('going on\n');
  expect((await child.stdout.text()).length).toBe(3_000_003);
  if (lines === 'going on\n') lines += await next();
  expect(lines).toBe('going on\ntaken\n');
  expect(await child.exited).toBe(7);
});

test('a text that nobody can read is an error', async () => {
  const program = `import { openOutput } from ${streams};
    openOutput(1, ({ code }) => process.exit(code === 'EPIPE' ? 7 : 1)).write('x'.repeat(3_000_000));`;
  const child = Bun.spawn(['sh', '-c', '{ "$0" -e "$1"; echo $? >&2; } | true', process.execPath, program], {
    stderr: 'pipe',
  });
  expect(await child.stderr.text()).toBe('7\n');
});
