// Runs the example of docs/files.md, and checks the doors of the command line.
import { beforeEach, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace } from '../testing/open-place.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/files.md'), 'utf8');
const blockOf = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? '';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const place = openPlace();
beforeEach(async () => {
  await place.write('.', { 'goondan.yaml': blockOf('yaml') });
  writeFileSync(join(place.folder, 'cat.png'), Buffer.from(png, 'base64'));
});

test('Y-02 the example of the page prints what the page says, and the history shows the file', async () => {
  const [, ...command] = /^gdn (.*)$/m.exec(blockOf('sh'))?.[0]?.match(/"[^"]*"|\S+/g) ?? [];
  const args = command.map((word) => word.replaceAll('"', ''));
  expect(await place.run(...args, '--trust')).toMatchObject({ stdout: blockOf('text'), exitCode: 0 });
  for (const show of [
    ['history', 'viewer', 'default'],
    ['blame', 'viewer', 'default'],
    ['instance', 'show', 'viewer', 'default'],
  ]) {
    expect((await place.run(...show)).stdout).toContain('What is in this picture? [image cat.png, 70 B]');
  }
  const exported = (await place.run('instance', 'export', 'viewer', 'default')).stdout;
  expect(exported).toContain('blob:sha256-');
  expect(exported).not.toContain(png.slice(0, 40));
});
