// Tests with real agents: every example in `--help` is typed, in a swarm that `gdn init` made and that has
// conversations.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { GdnPlace } from '../testing/gdn-place.ts';

// Long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(120_000);

let place: GdnPlace;
beforeAll(async () => {
  place = new GdnPlace();
  await place.run('init', 'my-swarm');
  expect((await place.run('run', 'my-swarm', '--trust', '--input', 'hello')).exitCode).toBe(0);
});
afterAll(async () => expect(await place.remove()).toEqual([]));

/** Matches ids that are invented in the examples; people type their own. */
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
