// Tests the commands with a state root that another version of Goondan wrote.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

const place = openPlace(afterAll);
beforeAll(async () => {
  await place.write('shop', { 'goondan.yaml': sampleBundle() });
  expect((await place.run('run', 'shop', '--trust', '--input', 'Hi')).exitCode).toBe(0);
});

test('every command that uses conversations gives the same error, and says what to do', async () => {
  const path = join(place.stateRoot, 'format.json');
  expect(readFileSync(path, 'utf8')).toBe('{"formatVersion":1}\n');
  writeFileSync(path, '{"formatVersion":7}\n');
  const bundle = ['--bundle', 'shop'];
  for (const typed of [
    ['ls'],
    ['run', 'shop', '--trust', '--input', 'Again'],
    ['run', 'shop', '--trust', '--detach'],
    ['instance', 'list', ...bundle],
    ['instance', 'delete', 'host', 'default', '--yes', ...bundle],
    ['history', 'host', 'default', ...bundle],
    ['trace', ...bundle],
    ['logs', ...bundle],
    ['usage', ...bundle],
    ['backup', 'copy', ...bundle],
  ]) {
    const { stdout, stderr, exitCode } = await place.run(...typed);
    expect({ typed, stdout, exitCode }).toEqual({ typed, stdout: '', exitCode: 3 });
    expect(stderr).toContain(`E_STORE_FORMAT: The state root ${place.stateRoot} has format 7;`);
    expect(stderr).toContain('Use the version of Goondan that wrote the state root');
  }
  writeFileSync(path, '{"formatVersion":1}\n');
  expect((await place.run('instance', 'list', ...bundle)).exitCode).toBe(0);
});
