// Tests the SDK's client with real processes; only the clock is fake.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { ExtensionStatus } from '@goondan/types';
import { manualClock } from '@goondan/runtime/testing';
import { Connection } from './connection.ts';
import { openClient } from './open-client.ts';
import { ServerHealth } from './server-health.ts';
import { ServerPlace } from './testing/server-place.ts';
import { until } from '../../../../../test/until.ts';
import { openQuietClient } from './testing/quiet-client.ts';

let place: ServerPlace;
let connection: Connection | undefined;
beforeEach(() => {
  place = new ServerPlace();
  place.setTools('look');
});
afterEach(async () => {
  await connection?.close();
  place[Symbol.dispose]();
});

test.each(['legacy', 'auto'] as const)(
  'a missing command fails each attempt for that reason, and connects once it exists (%s)',
  async (protocol) => {
    const clock = manualClock();
    const statuses: ExtensionStatus[] = [];
    const lists: string[][] = [];
    const quiet = () => undefined;
    const timeouts = { connectMs: 10_000, listMs: 10_000, callMs: 10_000 };
    const made = new Connection(
      'ghost',
      { timeouts, mode: 'stateful' },
      {
        clock,
        logger: { info: quiet, warn: quiet, debug: quiet },
        health: new ServerHealth((status) => void statuses.push(status)),
        open: (events) => openClient(events, { onServerLine: quiet, onSecrets: quiet }),
        onListed: async (tools) => void lists.push(tools.map(({ name }) => name)),
      },
    );
    connection = made;
    const command = join(place.folder, 'late.sh');
    const environment = { PATH: process.env.PATH ?? '' };
    await made.aim({ type: 'stdio', command, args: [], environment, cwd: place.folder, protocol });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const problem = await made.need().catch(String);
      expect(problem).toMatch(/cannot be reached: ENOENT\b.*late\.sh/);
      expect(statuses.at(-1)).toMatchObject({ state: 'failed', problem: expect.stringMatching(/ENOENT.*late\.sh/) });
      await clock.advance(30_000);
    }

    const server = [...(place.transport.command as string[]), ...(place.transport.args as string[])];
    place.write('late.sh', `#!/bin/sh\nexec ${server.map((word) => `'${word}'`).join(' ')}\n`);
    chmodSync(command, 0o755);
    made.wake();
    await until(() => made.isConnected);
    expect(lists).toEqual([['look']]);
    expect(statuses.at(-1)).toEqual({ state: 'connected', target: command });
  },
);

test('B-06 closing a connection over HTTP ends its session at the server', async () => {
  const ended: (string | null)[] = [];
  const session = { 'mcp-session-id': 'session-1' };
  using server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method === 'DELETE') ended.push(request.headers.get('mcp-session-id'));
      if (request.method !== 'POST') return new Response(null, { status: request.method === 'DELETE' ? 200 : 405 });
      // Safe: the client of the SDK sends only such messages.
      const { id, params } = (await request.json()) as { id?: number; params?: { protocolVersion?: string } };
      if (id === undefined) return new Response(null, { status: 202 });
      const protocolVersion = params?.protocolVersion;
      const result = { protocolVersion, capabilities: {}, serverInfo: { name: 'web', version: '1' } };
      return Response.json({ jsonrpc: '2.0', id, result }, { headers: session });
    },
  });
  const client = await openQuietClient();
  const url = `http://127.0.0.1:${server.port}/mcp`;
  await client.connect({ type: 'http', url, headers: {}, protocol: 'legacy' }, { timeoutMs: 10_000 });
  expect(ended).toEqual([]);
  await client.close();
  expect(ended).toEqual(['session-1']);
});
