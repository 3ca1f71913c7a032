import { expect, test } from 'bun:test';

test.each([
  ['true', 'The file /dev/stdin is empty.'],
  ['yes', 'The file /dev/stdin has more than 5 bytes.'],
])('a pipe is read up to a limit: %s', async (writer, problem) => {
  const program = `import { checkFile } from '${import.meta.dir}/check-file.ts';
    await checkFile('/dev/stdin', undefined, undefined, 5).catch(({ message }) => console.log(message));`;
  const script = `${writer} | "$BUN" -e "$PROGRAM"`;
  const env = { ...process.env, BUN: process.execPath, PROGRAM: program };
  const { stdout } = Bun.spawn(['sh', '-c', script], { env, stdout: 'pipe', stderr: 'inherit' });
  expect(await stdout.text()).toBe(`${problem}\n`);
});
