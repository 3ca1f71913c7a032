/** Handlers that read a workspace. They change nothing. */
import { readHistory, readPrompts, type StoreReader } from '@goondan/runtime/history';
import { shortTurnId } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { withInstance } from '../../instance/read-instances.ts';
import { openReader, type SwarmPlace } from '../../swarm/swarm-place.ts';
import { groupings } from '../../usage/groupings.ts';
import { reportUsage } from '../../usage/sum-spendings.ts';
import type { FileView, TraceView, TurnList, UsageView, WithShortId } from '../contract.ts';
import { addressOf, numberOf, readQuery } from '../http/read-query.ts';
import type { StudioHost } from '../studio-host.ts';
import { readConversation } from './read-conversation.ts';
import { lightenTurn } from './lighten-turn.ts';
import { readTimeline } from './read-timeline.ts';
import { viewOfWorkspace } from './view-changesets.ts';
import { viewPrompt } from './view-prompt.ts';
import { viewWorkspace } from './view-workspace.ts';

/**
 * Handlers by the last part of the address, which is empty for the workspace itself. Each returns a value to send as
 * JSON. **Errors** — `E_STUDIO_REQUEST`, and the errors of reading.
 */
export const answerGet = new Map([
  ['', view],
  ['conversation', conversation],
  ['timeline', timeline],
  ['history', history],
  ['turns', turns],
  ['usage', usage],
  ['trace', trace],
  ['prompt', prompt],
  ['changeset', changeset],
  ['file', file],
]);

const whole = { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: undefined };

function view(host: StudioHost, place: SwarmPlace, url: URL): Promise<object> {
  readQuery(url, []);
  return host.reads.run(keyOf('view', place), () => viewWorkspace(host, place));
}

function conversation(host: StudioHost, place: SwarmPlace, url: URL): Promise<object> {
  const query = readQuery(url, ['agent', 'instanceKey', 'at', 'last']);
  const instance = addressOf(query);
  const at = numberOf(query, 'at', whole);
  const last = numberOf(query, 'last', { least: 1, most: 1000, otherwise: 200 });
  const question = { last, ...(at === undefined ? {} : { at }) };
  return read(host, place, instance, ['conversation', question], ({ history: source }) =>
    readConversation(source, instance, question),
  );
}

function timeline(host: StudioHost, place: SwarmPlace, url: URL): Promise<object> {
  const instance = addressOf(readQuery(url, ['agent', 'instanceKey']));
  return read(host, place, instance, ['timeline'], ({ history: source }) => readTimeline(source, instance));
}

function history(host: StudioHost, place: SwarmPlace, url: URL): Promise<object> {
  const query = readQuery(url, ['agent', 'instanceKey', 'before', 'limit']);
  const instance = addressOf(query);
  const before = numberOf(query, 'before', whole);
  const limit = numberOf(query, 'limit', { least: 1, most: 1000, otherwise: 100 });
  const question = { limit, ...(before === undefined ? {} : { before }) };
  return read(host, place, instance, ['history', question], ({ history: source }) =>
    readHistory(source, instance, question),
  );
}

function turns(host: StudioHost, place: SwarmPlace, url: URL): Promise<TurnList> {
  const query = readQuery(url, ['agent', 'instanceKey', 'last']);
  const last = numberOf(query, 'last', { least: 1, most: 1000, otherwise: 50 });
  const { agent, instanceKey } = query;
  const question = {
    last,
    ...(agent === undefined ? {} : { agentName: agent }),
    ...(instanceKey === undefined ? {} : { instanceKey }),
  };
  return host.reads.run(keyOf('turns', place, question), async () => ({
    turns: withShortIds(await (await openReader(place)).traces.list(question)),
  }));
}

function usage(host: StudioHost, place: SwarmPlace, url: URL): Promise<UsageView> {
  const { by: asked = 'agent' } = readQuery(url, ['by']);
  const by = groupings.find((each) => each === asked);
  if (by === undefined) throw new Refusal(400, 'E_STUDIO_REQUEST', `Usage has no "${asked}": ${groupings.join(', ')}.`);
  return host.reads.run(keyOf('usage', place, by), async () =>
    reportUsage(await (await openReader(place)).usage.read(), { by, prices: host.prices }),
  );
}

function trace(host: StudioHost, place: SwarmPlace, url: URL): Promise<object> {
  const { id } = readQuery(url, ['id']);
  if (id === undefined) throw new Refusal(400, 'E_STUDIO_REQUEST', 'The request names no turn. Add its `id`.');
  return host.reads.run(keyOf('trace', place, id), async (): Promise<TraceView> => {
    const found = await (await openReader(place)).traces.read(id);
    return { ...found, turns: withShortIds(found.turns.map(lightenTurn)) };
  });
}

function prompt(host: StudioHost, place: SwarmPlace, url: URL): Promise<object> {
  const { id, effect } = readQuery(url, ['id', 'effect']);
  if (id === undefined || effect === undefined) {
    throw new Refusal(400, 'E_STUDIO_REQUEST', 'The request names no model call. Add `id` and `effect`.');
  }
  return host.reads.run(keyOf('prompt', place, id, effect), async () => {
    return viewPrompt(await readPrompts(await openReader({ ...place, warn: host.warn }), { id, effect }));
  });
}

function changeset(host: StudioHost, place: SwarmPlace, url: URL): Promise<object> {
  const { id } = readQuery(url, ['id']);
  if (id === undefined) throw new Refusal(400, 'E_STUDIO_REQUEST', 'The request names no changeset. Add its `id`.');
  return host.reads.run(keyOf('changeset', place, id), () => viewOfWorkspace(place, id, host.warn));
}

async function file(_host: StudioHost, place: SwarmPlace, url: URL): Promise<FileView> {
  const { digest = '' } = readQuery(url, ['digest']);
  if (!/^[0-9a-f]{64}$/.test(digest))
    throw new Refusal(400, 'E_STUDIO_REQUEST', 'The request names no file. Add its `digest`.');
  const bytes = await (await openReader(place)).blobs.get(digest);
  if (bytes === undefined) throw new Refusal(404, 'E_FILE_UNKNOWN', `No file with the SHA-256 ${digest} is stored.`);
  return { size: bytes.length, data: Buffer.from(bytes).toString('base64') };
}

function withShortIds<Turn extends { readonly turnId: string }>(listed: readonly Turn[]): WithShortId<Turn>[] {
  return listed.map((turn) => ({ ...turn, shortId: shortTurnId(turn.turnId) }));
}

/** Reads one conversation; equal requests at the same time share one read. **Errors** — `E_INSTANCE_UNKNOWN`. */
function read<Value>(
  { reads, warn }: StudioHost,
  place: SwarmPlace,
  instance: AgentAddress,
  question: readonly unknown[],
  from: (store: StoreReader) => Promise<Value>,
): Promise<Value> {
  return reads.run(keyOf('instance', place, instance, ...question), () =>
    withInstance({ ...place, warn }, instance, from),
  );
}

function keyOf(what: string, { workspaceId }: SwarmPlace, ...question: readonly unknown[]): string {
  return JSON.stringify([what, workspaceId, ...question]);
}
