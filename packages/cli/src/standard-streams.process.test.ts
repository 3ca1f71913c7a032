import { expect, test } from 'bun:test';
import { join } from 'node:path';

const streams = JSON.stringify(join(import.meta.dir, 'standard-streams.ts'));

test('a slow reader gets a long text, and the process does not wait for it', async () => {
  const program = `import { openOutput } from ${streams};
    const [output, told] = [1, 2].map((descriptor) => openOutput(descriptor, () => process.exit(1)));
    output.write('x'.repeat(3_000_000), () => told.write('taken\\n'));
    output.write('end', () => process.exit(7));
    told.write('going on\\n');`;
  // Bun reads the output of a child before anybody asks for it. This reader reads nothing before it gets a line.
  const script = 'exec 3<&0; { "$0" -e "$1" 3<&-; echo "exit code $?" >&2; } | { read -r go <&3; wc -c; }';
  const child = Bun.spawn(['sh', '-c', script, process.execPath, program], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const said = child.stderr.getReader();
  const next = async () => new TextDecoder().decode((await said.read()).value);
  expect(await next()).toBe('going on\n');
  void child.stdin.write('go\n');
  await child.stdin.end();
  expect(Number(await child.stdout.text())).toBe(3_000_003);
  let rest = '';
  for (let piece = await next(); piece !== ''; piece = await next()) rest += piece;
  expect(rest).toBe('taken\nexit code 7\n');
});

test('a text that nobody can read is an error', async () => {
  const program = `import { openOutput } from ${streams};
    openOutput(1, ({ code }) => process.exit(code === 'EPIPE' ? 7 : 1)).write('x'.repeat(3_000_000));`;
  const child = Bun.spawn(['sh', '-c', '{ "$0" -e "$1"; echo $? >&2; } | true', process.execPath, program], {
    stderr: 'pipe',
  });
  expect(await child.stderr.text()).toBe('7\n');
});
