import { expect, test } from 'bun:test';

test.each([
  ['true', '/dev/stdin', 'is empty. Name a file with content, or leave it out'],
  ['yes', '/dev/stdin', 'has more than 5 bytes. Write less to the pipe'],
  // Not even opened, because nobody may ever write to it.
  ['true', 'named', 'is not a file. Check the path'],
])('a pipe is read up to a limit: %s in %s', async (writer, path, problem) => {
  const PROGRAM = `import { checkFile } from '${import.meta.dir}/check-file.ts';
    await checkFile('${path}', undefined, undefined, 5).catch((error) => console.log(error.message, error.suggestion));`;
  const script = `cd "$(mktemp -d)" && mkfifo named && ${writer} | "$BUN" -e "$PROGRAM"; rm named; rmdir "$PWD"`;
  const env = { ...process.env, BUN: process.execPath, PROGRAM };
  const { stdout } = Bun.spawn(['sh', '-c', script], { env, stdout: 'pipe', stderr: 'inherit' });
  expect(await stdout.text()).toStartWith(`The file ${path} ${problem}.`);
});
