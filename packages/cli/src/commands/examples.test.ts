// Tests with real agents: every example in `--help` is run, in a swarm from `gdn init` that already has conversations.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openPlace } from '../testing/open-place.ts';

const place = openPlace(afterAll);
beforeAll(async () => {
  await place.run('init', 'my-swarm');
  expect((await place.run('run', 'my-swarm', '--trust', '--input', 'hello')).exitCode).toBe(0);
});

/** Matches an id that the examples invent. People type their own ids. */
const madeUp = / 1f3a9c2b /;

const commands = ['trace', 'history', 'blame', 'fork', 'explain', 'validate', 'status'];

test.each([...commands, 'instance list', 'instance show', 'instance export'])('gdn %s', async (command) => {
  const { stdout } = await place.run(...command.split(' '), '--help');
  const examples = [...stdout.matchAll(/^ {2}\$ gdn (.+)$/gm)].map(([, typed = '']) => typed);
  const typed = examples.filter((example) => !madeUp.test(example) && !example.endsWith(' --load'));
  expect(typed.length).toBeGreaterThan(0);
  for (const example of typed) {
    const { stderr, exitCode } = await place.run(...example.split(' '));
    expect({ example, stderr, exitCode }).toMatchObject({ example, exitCode: 0 });
  }
});
