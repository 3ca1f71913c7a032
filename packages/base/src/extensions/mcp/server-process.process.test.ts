// Tests with real processes.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { ServerProcess } from './server-process.ts';
import { isAlive } from './testing/server-place.ts';
import { until } from '../../../../../test/until.ts';

setDefaultTimeout(30_000);

interface Heard {
  readonly messages: unknown[];
  readonly lines: string[];
  readonly errors: string[];
  closed: number;
}

let running: ServerProcess<unknown> | undefined;
afterEach(() => running?.close());

async function start(script: string): Promise<{ server: ServerProcess<unknown>; heard: Heard }> {
  const heard: Heard = { messages: [], lines: [], errors: [], closed: 0 };
  const server = new ServerProcess<unknown>(
    {
      type: 'stdio',
      command: 'sh',
      args: ['-c', script],
      environment: { PATH: process.env.PATH ?? '' },
      cwd: '/',
      protocol: 'legacy',
    },
    (line) => JSON.parse(line) as unknown,
    (line) => heard.lines.push(line),
  );
  server.onmessage = (message) => heard.messages.push(message);
  server.onerror = ({ message }) => heard.errors.push(message);
  server.onclose = () => void (heard.closed += 1);
  running = server;
  await server.start();
  return { server, heard };
}

test('B-06 messages are lines, in both directions; other lines go to the log', async () => {
  const { server, heard } = await start(`echo '{"a":1}'; echo hello; echo oops >&2; cat`);
  await server.send({ b: 2 });
  await until(() => heard.messages.length === 2 && heard.lines.length === 2);
  expect(heard.messages).toEqual([{ a: 1 }, { b: 2 }]);
  expect(heard.lines.toSorted()).toEqual(['hello', 'oops']);
});

test('a server that ends with its input is not killed', async () => {
  const { server, heard } = await start('cat >/dev/null; echo bye >&2');
  await server.close();
  expect({ lines: heard.lines, closed: heard.closed }).toEqual({ lines: ['bye'], closed: 1 });
  expect(server.lastWords()).toBe('Its process ended with code 0. It said: bye');
});

test('B-06 a server that does not end is killed, with its processes', async () => {
  const { server, heard } = await start(
    `trap '' TERM; sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & echo $$; while true; do sleep 1; done`,
  );
  await until(() => heard.messages.length === 3);
  const pids = heard.messages.map(Number);
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  await server.close();
  await until(() => pids.every((pid) => !isAlive(pid)));
  expect(heard.closed).toBe(1);
});

test('when a server ends by itself, its remaining processes are ended, too', async () => {
  const { heard } = await start(`sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.3; exit 7`);
  await until(() => heard.closed === 1);
  const pids = heard.messages.map(Number);
  expect(pids).toHaveLength(2);
  await until(() => pids.every((pid) => !isAlive(pid)));
});

test('an endless message is not kept', async () => {
  const { heard } = await start(`head -c 40000000 /dev/zero | tr '\\0' x; sleep 1000`);
  await until(() => heard.closed === 1);
  expect(heard.errors[0]).toContain('more than 33554432 bytes');
});

test('the output of a server is limited: characters of a line, and number of lines', async () => {
  const { heard } = await start(`head -c 100000 /dev/zero | tr '\\0' x >&2; echo >&2; seq 5000 >&2`);
  await until(() => heard.closed === 1);
  expect(heard.lines.length).toBeLessThanOrEqual(1_001);
  expect(Math.max(...heard.lines.map(({ length }) => length))).toBeLessThanOrEqual(2_000);
});

test('closing a server twice is the same as once', async () => {
  const { server, heard } = await start('cat');
  await Promise.all([server.close(), server.close()]);
  await server.close();
  expect(heard.closed).toBe(1);
  expect(await server.send({}).catch(String)).toBe('Error: the server is not running');
});
