import { expect, test } from 'bun:test';
import { join } from 'node:path';

test('a person has the name of the OS user, also if $USER is not set', () => {
  const script = `import { personName } from ${JSON.stringify(join(import.meta.dir, 'person-name.ts'))}; console.log(personName());`;
  const nameWith = (env: Readonly<Record<string, string>>) => {
    const { PATH = '' } = process.env;
    return Bun.spawnSync([process.execPath, '-e', script], { env: { PATH, ...env } })
      .stdout.toString()
      .trim();
  };
  expect(nameWith({})).toBe(Bun.spawnSync(['id', '-un']).stdout.toString().trim());
  expect(nameWith({ USER: 'ann' })).toBe('ann');
  // Without the command `id`, the number of the user is better than a name that everybody has.
  expect(nameWith({ PATH: '/nowhere' })).toBe(`uid ${process.getuid?.()}`);
});
