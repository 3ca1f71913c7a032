// Tests with real agents: the id of a turn in every command.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { TraceView, TurnList, WorkspaceList } from '../studio/contract.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { StudioPlace } from '../testing/studio-place.ts';
import { until } from '../../../../test/until.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(60_000);

let place: GdnPlace;
const gdn = async (line: string) => (await place.run(...line.split(' '), '--bundle', 'bundle')).stdout;
const json = async (line: string) => JSON.parse(await gdn(`${line} --json`));

beforeAll(async () => {
  place = new GdnPlace();
  const script = [`- { when: '^slow', say: '${'word '.repeat(20_000)}' }`, `- { fail: { message: 'no' } }`].join('\n');
  // The slow answer takes longer than any test, so its turn ends only when it is cancelled.
  await place.write('bundle', { 'goondan.yaml': sampleBundle({ script, options: 'tokensPerSecond: 10' }) });
  await place.serve('bundle');
});
afterAll(async () => {
  await gdn('stop');
  expect(await place.remove()).toEqual([]);
});

test('every command shows the same short id of a turn, and accepts it', async () => {
  const [, short = ''] =
    /^Accepted by host \(default\): turn ([0-9a-f-]{8,})\n$/.exec(await gdn('send --input Hi')) ?? [];
  await until(async () => (await gdn('trace')).includes('E_MODEL_FAILED'));
  const { turns, traceId } = await json(`trace ${short}`);
  const { turnId } = turns[0];
  expect(turnId).toStartWith(`turn-event-${short}`);

  expect(await gdn('trace')).toContain(`  ${short}  `);
  expect(await gdn('trace last')).toContain(`\nturn ${short} of trace ${traceId}, `);
  expect(await gdn(`trace ${short}`)).toBe(await gdn('trace last'));
  expect(await gdn('history host default')).toStartWith(`${short}  `);
  expect(await gdn(`history host default --at ${short}`)).toBe('user  Hi\n');
  expect(await gdn('blame host default')).toStartWith(`#1 user  person via cli, turn ${short}, `);
  expect(await json(`fork host default --as copy --at ${short}`)).toMatchObject({ messages: 1 });
  expect(await gdn('replay --trust')).toStartWith(`Replayed turn ${short} of host (default), `);
  expect(await gdn(`replay ${short} --trust`)).toBe(await gdn('replay --trust'));
  expect(await gdn('logs')).toContain(` error host default ${short}: Turn failed`);
  const logged = (await gdn(`logs --json --trace ${short}`))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(logged.map((line) => line.turnId))).toEqual(new Set([turnId]));
});

test('cancel takes the short id; history says that the turn has not ended', async () => {
  const whom = '--instance cancelled';
  const { turnId, eventId } = await json(`send --input slow ${whom}`);
  expect(turnId).toBe(`turn-${eventId}`);
  expect(await json(`cancel ${whom} --id 1f3a9c2b`)).toEqual({ cancelled: false });
  const short = eventId.slice('event-'.length).slice(0, 10);
  const { stderr } = await place.run('history', 'host', 'cancelled', '--at', short, '--bundle', 'bundle');
  expect(stderr).toContain(' has not ended yet, so it is not in the history.');
  expect(await json(`cancel ${whom} --id ${short}`)).toEqual({ cancelled: true });
});

test('Studio shows the short id', async () => {
  const studio = new StudioPlace({ stateRoot: place.stateRoot });
  await studio.enter();
  const { workspaces } = await studio.read<WorkspaceList>('/api/workspaces');
  const base = `/api/workspaces/${workspaces[0]?.workspaceId}`;
  const { turns } = await studio.read<TurnList>(`${base}/turns`);
  const shortIds = turns.map(({ shortId }) => shortId);
  const listed = await gdn('trace');
  for (const shortId of shortIds) expect(listed).toContain(`  ${shortId}  `);
  const { turns: opened } = await studio.read<TraceView>(`${base}/trace?id=${shortIds[0]}`);
  expect(opened.map(({ turnId, shortId }) => [turnId, shortId])).toEqual([[turns[0]?.turnId ?? '', shortIds[0] ?? '']]);
  await studio.remove();
});
