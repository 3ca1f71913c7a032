// Compares docs/control-socket.md with the socket, in both directions.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { operations, PROTOCOL } from '../../control/operations.ts';
import { type ServedSwarm, serveFakeSwarm } from '../../testing/serve-fake-swarm.ts';
import { controlLimits } from './control-limits.ts';
import { controlStatusByCode } from './refuse.ts';

const page = await Bun.file(join(import.meta.dir, '../../../../../docs/control-socket.md')).text();
const sections = [...page.matchAll(/^### `(.+)`\n([\s\S]*?)(?=^##)/gm)].map(([, title = '', text = '']) => ({
  title,
  text,
}));
const examples = sections.flatMap(({ title, text }) =>
  [...text.matchAll(/^curl .+$/gm)].map(([command]) => ({ title, command })),
);

let served: ServedSwarm;
let finishing: Timer;

beforeAll(async () => {
  served = await serveFakeSwarm();
  finishing = setInterval(() => served.swarm.running.forEach((id) => served.swarm.finish(id, 'Done')), 1);
});

afterAll(async () => {
  clearInterval(finishing);
  await served.close();
});

describe('the page about the control socket', () => {
  test('has every endpoint, and no other', () => {
    const known = Object.values(operations).map(({ method, path }) => `${method} ${PROTOCOL}${path}`);
    expect(sections.map(({ title }) => title).toSorted()).toEqual(known.toSorted());
  });

  test('has an example of each endpoint', () => {
    expect(sections.map(({ title }) => title).filter((each) => !examples.some(({ title }) => title === each))).toEqual(
      [],
    );
  });

  test.each(examples)('shows a command that works: $command', async ({ title, command }) => {
    const { method, at, body, headers } = readCommand(command);
    expect(`${method} ${at.replace(/\?.*/, '')}`).toBe(title);
    const response = await served.request(method, at, { headers, ...(body === undefined ? {} : { body }) });
    expect(response.status).toBe(200);
    await response.body?.cancel();
  });

  test('has the status of every code', () => {
    const shown = [...page.matchAll(/^\| (\d{3}) +\| (`E_.+`) +\|$/gm)].flatMap(([, status, codes = '']) =>
      codes.split(', ').map((code) => [code.replaceAll('`', ''), Number(status)]),
    );
    expect(Object.fromEntries(shown)).toEqual(controlStatusByCode);
  });

  test('has every limit', () => {
    const { stream, ...others } = controlLimits;
    const shown = [...page.matchAll(/^\| .+? \| ([\d, KMBs]+?) +\| .+ \|$/gm)].flatMap(([, bounds = '']) =>
      bounds.split(', ').map(readBound),
    );
    expect(shown.toSorted(byNumber)).toEqual([...Object.values(others), ...Object.values(stream)].toSorted(byNumber));
  });
});

function readCommand(command: string) {
  const [, at = ''] = /http:\/\/localhost([^' ]+)/.exec(command) ?? [];
  const [, body] = /-d '(.+)'/.exec(command) ?? [];
  const [, accept] = /-H 'Accept: (.+?)'/.exec(command) ?? [];
  const headers: Record<string, string> = accept === undefined ? {} : { Accept: accept };
  expect(command).toStartWith('curl --unix-socket "$SOCKET" ');
  return { method: body === undefined ? 'GET' : 'POST', at, body, headers };
}

/** Converts a limit on the page to a number: `16 MB` to 16000000, `30 s` to 30000. */
function readBound(bound: string): number {
  const [number, unit = ''] = bound.split(' ');
  return Number(number) * ({ KB: 1_000, MB: 1_000_000, s: 1_000 }[unit] ?? 1);
}

function byNumber(left: number, right: number): number {
  return left - right;
}
