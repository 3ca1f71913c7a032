/** Checks the conditions that must hold after any number of crashes, once all pending events are handled. */
import type { AgentAddress, JsonValue, Message, TurnResult } from '@goondan/types';
import type { ConversationSnapshot } from '../../agent/conversation/conversation-store.ts';
import type { ArchivedEvent, ArchivedTurn } from '../archive/read-archive.ts';
import { HistoryFold } from '../history/history-fold.ts';
import { emptyStart } from '../history/history-start.ts';
import { openJournal, type Journal } from '../journal/journal.ts';
import { instancePaths, workspaceFolder } from '../layout/instance-paths.ts';
import { decodeReply } from '../records/reply.ts';
import type { StorePorts } from '../store-ports.ts';
import { foldEvents } from './fold-events.ts';
import { decodeMetadata } from '../records/metadata.ts';
import { simulatedLimits, simulatedLocation } from './simulated-machine.ts';
import { BETWEEN, stateAfter, type Input, type Workload } from './workload.ts';
import {
  isRecordedSinceReset,
  resetAfter,
  resetBefore,
  sealOf,
  statesAfter,
  statesBefore,
  type World,
} from './world.ts';

/** Throws at the first violated condition. */
export async function check(ports: StorePorts, workload: Workload, world: World): Promise<void> {
  const journal = await openJournal(ports, simulatedLocation, simulatedLimits);
  await checkKept({ ...journal, answers: (instance) => answersOf(journal, instance) }, workload, world);
  for (const instance of workload.instances) await checkBaseLines(ports, journal, instance);
  await journal.close();
}

/** The part of a store that readers use. */
export interface KeptConversations extends Pick<Journal, 'archive' | 'read' | 'summary'> {
  pending(instance: AgentAddress): Promise<readonly unknown[]>;
  answers(instance: AgentAddress): Promise<readonly KeptAnswer[]>;
  readonly deadLetters: Pick<Journal['deadLetters'], 'list'>;
}

interface KeptAnswer {
  /** The id of the turn. */
  readonly key: string;
  readonly result: TurnResult | undefined;
}

async function answersOf({ outbox }: Journal, instance: AgentAddress): Promise<readonly KeptAnswer[]> {
  return (await outbox.pending(instance)).map(({ key, value }) => ({ key, result: decodeReply(value)?.result }));
}

/** Checks everything that readers of any store can see. Throws at the first violated condition. */
export async function checkKept(journal: KeptConversations, workload: Workload, world: World): Promise<void> {
  checkEffects(workload, world);
  for (const instance of workload.instances) {
    const archive: ArchivedTurn[] = [];
    for await (const turn of journal.archive(instance)) archive.push(turn);
    const turns = archive.filter(isTurn);
    const inputs = inputsOf(workload, world, instance, turns);
    checkOrder(inputs, turns);
    checkResets(workload, instance, archive, world);
    for (const [index, turn] of turns.entries()) checkTurn(inputs[index], turn, world);
    const stored = await journal.read(instance);
    const history = foldHistory(archive);
    await checkConversation(journal, instance, { archive, stored, history });
    checkExtensionState(inputs, { archive, stored, history }, world);
    checkStatesBetween({ archive, stored, history }, world);
    await checkAnswers(journal, instance, inputs, turns, world);
    await checkDeadLetters(journal, instance, turns);
    expect(await journal.pending(instance), [], 'nothing is pending');
  }
}

type Turn = ArchivedTurn & { readonly result: TurnResult };

function isTurn(archived: ArchivedTurn): archived is Turn {
  return typeof archived.result === 'object';
}

/** Returns the acknowledged inputs, and an unacknowledged input if it was handled anyway. */
function inputsOf(
  { inputs }: Workload,
  { sent, acknowledged }: World,
  { instanceKey }: AgentAddress,
  turns: readonly Turn[],
): readonly Input[] {
  const isHandled = (id: string) => turns.some(({ turnId }) => turnId === `turn-${id}`);
  const mayBe = ({ event: { id } }: Input) => acknowledged.includes(id) || (sent.includes(id) && isHandled(id));
  return inputs.filter((input) => input.instance.instanceKey === instanceKey && mayBe(input));
}

/** Checks that every acknowledged input was handled exactly once, in the order of the acknowledgements. */
function checkOrder(inputs: readonly Input[], turns: readonly Turn[]): void {
  const sent = inputs.map(({ event }) => `turn-${event.id}`);
  expect(
    turns.map(({ turnId }) => turnId),
    sent,
    'committed turns',
  );
}

/**
 * Checks that a reset is in the history only where one was attempted. An attempt may precede the turn of an
 * unacknowledged event that was lost. After an acknowledged reset, the next turn must start with no messages.
 */
function checkResets(
  { inputs }: Workload,
  { instanceKey }: AgentAddress,
  archive: readonly ArchivedTurn[],
  { effects, resets }: World,
): void {
  const own = inputs.filter(({ instance }) => instance.instanceKey === instanceKey);
  const isLost = own.some(({ event: { id } }) => {
    return effects.includes(resetBefore(`turn-${id}`)) && !archive.some(({ turnId }) => turnId === `turn-${id}`);
  });
  let messages: readonly Message[] = [];
  let last: Turn | undefined;
  for (const [index, archived] of archive.entries()) {
    const next = archive.slice(index).find(isTurn);
    const names = [...(last ? [resetAfter(last.turnId)] : []), ...(next ? [resetBefore(next.turnId)] : [])];
    const isTried = isLost || names.some((name) => effects.includes(name));
    if (archived !== next && !isTried) throw new Error(`${archived.turnId} was not asked for`);
    if (archived === next && names.some((name) => resets.includes(name))) {
      expect(messages, [], `messages before ${archived.turnId}, after a reset`);
    }
    messages = foldTurn(messages, archived);
    if (isTurn(archived)) last = archived;
  }
  if (last && resets.includes(resetAfter(last.turnId))) expect(messages, [], 'messages after the last reset');
}

function checkTurn(input: Input | undefined, { turnId, events, result }: Turn, world: World): void {
  if (!input) throw new Error(`turn ${turnId} has no input`);
  const counted = events.filter(({ counts }) => counts);
  const isAgain = ({ author }: ArchivedEvent) => author.kind === 'input' && author.again === true;
  const first = counted.filter((event) => !isAgain(event));
  const inputs = first.filter(({ author }) => author.kind === 'input');
  expect(inputs.length, 1, `messages of input ${input.event.id}`);
  if (result.error?.code === 'E_DEAD_LETTER') return;
  const brought = first.flatMap(({ event }) => ('message' in event ? [event.message] : []));
  const ids = brought.map(({ id }) => id).filter((id) => !id.endsWith('-instead'));
  expect(ids, expectedIds(input, turnId), `messages of ${turnId}`);
  for (const message of brought) checkToolResult(message, turnId, world);
  expect(result.error?.code, input.script.fails ? 'E_MODEL_FAILED' : undefined, `outcome of ${turnId}`);
}

function expectedIds({ script }: Input, turnId: string): string[] {
  const ids = [`${turnId}-input`];
  if (script.note) ids.push(`${turnId}-note`);
  for (const [index, { outcome, tools, isOneWrite }] of script.steps.entries()) {
    const made = (attempt: string) => [
      `${turnId}${attempt}-reply`,
      ...tools.map((_, call) => `${turnId}${attempt}-call-${call}-result`),
    ];
    if (outcome === 'kept') ids.push(...made(`-step-${index}-first`));
    // The last event of such a step survives.
    if (outcome === 'dropped' && isOneWrite) ids.push(...made(`-step-${index}-first`).slice(-1));
    ids.push(...made(`-step-${index}`));
  }
  return ids;
}

function checkToolResult({ data }: Message, turnId: string, world: World): void {
  if (data.role !== 'tool') return;
  for (const { toolCallId, output } of data.content) {
    const isRecorded = isRecordedSinceReset(world, turnId, toolCallId);
    if (isRecorded && output.type === 'text')
      expect(output.value, 'done', `result of ${toolCallId}, which was recorded`);
  }
}

/** Checks that an effect that must not be repeated happened at most once, or once more after a reset. */
function checkEffects({ inputs }: Workload, { effects }: World): void {
  const once = new Set<string>();
  for (const { event, script } of inputs) {
    for (const [index, { tools }] of script.steps.entries()) {
      for (const [call, { isIdempotent }] of tools.entries()) {
        if (isIdempotent) continue;
        once.add(`turn-${event.id}-step-${index}-call-${call}`);
        once.add(`turn-${event.id}-step-${index}-first-call-${call}`);
      }
    }
  }
  for (const [index, effect] of effects.entries()) {
    if (!once.has(effect)) continue;
    const turnId = effect.slice(0, effect.indexOf('-step-'));
    const earlier = effects.slice(0, index);
    const isRepeated = earlier.lastIndexOf(effect) > earlier.lastIndexOf(resetBefore(turnId));
    if (isRepeated) throw new Error(`effect ${effect} happened twice`);
  }
}

/** What one instance has on the disk: its archive, its base, and the history that is folded from the archive. */
interface Found {
  readonly archive: readonly ArchivedTurn[];
  readonly stored: ConversationSnapshot;
  readonly history: HistoryFold;
}

/** Checks that the base equals the fold of its history and contains only messages. */
async function checkConversation(
  journal: KeptConversations,
  instance: AgentAddress,
  { archive, stored, history }: Found,
): Promise<void> {
  const messages = archive.reduce(foldTurn, []);
  expect(stored.version, archive.length, 'version');
  const summary = await journal.summary(instance);
  expect([summary.messages, summary.pending], [messages.length, 0], 'messages and pending events of the summary');
  // A long conversation is compared twice, so its text is made once.
  const wanted = JSON.stringify(messages);
  expectText(JSON.stringify(stored.messages), wanted, 'the base and the fold of the archive');
  expectText(JSON.stringify(history.messages()), wanted, 'the newest moment of the history');
}

/** Checks the file of the base. */
async function checkBaseLines({ fs }: StorePorts, journal: Journal, instance: AgentAddress): Promise<void> {
  const { messages } = await journal.read(instance);
  // Between checkpoints, the base is behind the log. Closing the instance writes a checkpoint, unless an interrupted turn
  // without an event in the inbox is open. Another turn replaces that one.
  await journal.open(instance, 'turn-check');
  await journal.close(instance);
  const workspace = workspaceFolder(simulatedLocation.stateRoot, simulatedLocation.workspaceId);
  const paths = instancePaths(workspace, instance);
  const bytes = await fs.read(paths.metadata);
  // A short base is in the checkpoint.
  const { text: short } = (bytes && decodeMetadata(bytes))?.checkpoint.base ?? {};
  const text = short ?? new TextDecoder().decode(await fs.read(paths.base));
  const written = text.slice(0, text.lastIndexOf('\n') + 1);
  expectText(written, messages.map((message) => `${JSON.stringify(message)}\n`).join(''), 'the lines of base.jsonl');
}

function foldHistory(archive: readonly ArchivedTurn[]): HistoryFold {
  const fold = new HistoryFold(emptyStart);
  for (const turn of archive) fold.apply(turn);
  return fold;
}

function foldTurn(messages: readonly Message[], { events }: ArchivedTurn): readonly Message[] {
  const counted = events.filter(({ counts }) => counts).map(({ event }) => event);
  return foldEvents(messages, counted);
}

function checkExtensionState(inputs: readonly Input[], { archive, stored, history }: Found, world: World): void {
  let state: Record<string, JsonValue> = {};
  for (const archived of archive) {
    const input = inputs.find(({ event }) => archived.turnId === `turn-${event.id}`);
    if (!isTurn(archived)) state = {};
    else if (input && keepsState(archived, input, world)) state = stateAfter(state, input.script, archived.turnId);
  }
  expect(sorted(ofTurns(stored.extensionState)), sorted(state), 'extension state');
  expect(sorted(ofTurns(history.states().known)), sorted(state), 'extension state in the archive');
}

/**
 * Returns true if the states of a turn's last step must be kept. It returns false for a dead letter whose last step has
 * no record.
 */
function keepsState({ turnId, result, states }: Turn, { script }: Input, world: World): boolean {
  if (result.error?.code !== 'E_DEAD_LETTER') return true;
  const seal = sealOf(`${turnId}-step-${script.steps.length - 1}`);
  // The state `between` does not count, because it may be missing when its commit was not acknowledged.
  const changed = [...Object.keys(states?.set ?? {}), ...(states?.removed ?? [])];
  return isRecordedSinceReset(world, turnId, seal) || changed.some((name) => name !== BETWEEN);
}

/**
 * Checks states that were committed alone. An acknowledged state must exist until the next reset, and must be in the
 * archive from the next turn on. A state may exist or not if its commit was not acknowledged, or if an interrupted turn
 * did not read it.
 */
function checkStatesBetween({ archive, stored, history }: Found, { stateTries, statesKept }: World): void {
  const wasTried = (name: string) => stateTries.includes(name);
  // If an event was not acknowledged, it may have been lost together with its turn.
  const turns = archive.map(({ turnId }) => statesBefore(turnId));
  const always = stateTries.filter((name) => name.startsWith(statesBefore('')) && !turns.includes(name));
  let possible: readonly (JsonValue | undefined)[] = [undefined];
  let archived = possible;
  for (const turn of archive) {
    const [before, after] = [statesBefore(turn.turnId), statesAfter(turn.turnId)];
    if (!isTurn(turn)) possible = [undefined];
    if (wasTried(before)) possible = [...possible, before];
    archived = possible;
    if (wasTried(after)) possible = statesKept.includes(after) ? [after] : [...possible, after];
  }
  expectOneOf(stored.extensionState[BETWEEN], [...possible, ...always], 'state that was set between turns');
  const known = history.states().known[BETWEEN];
  expectOneOf(known, [...archived, ...always], 'state of between turns in the archive');
}

function ofTurns({ [BETWEEN]: _, ...states }: Readonly<Record<string, JsonValue>>): Record<string, JsonValue> {
  return states;
}

/** Checks that an answer exists until it is fetched, and not afterwards. */
async function checkAnswers(
  journal: KeptConversations,
  instance: AgentAddress,
  inputs: readonly Input[],
  turns: readonly Turn[],
  { fetched }: World,
): Promise<void> {
  const entries = await journal.answers(instance);
  const awaited = turns.filter((_, index) => inputs[index]?.event.replyTo);
  const fetchable = (turnId: string) =>
    inputs.some((input) => `turn-${input.event.id}` === turnId && input.isAnswerFetched);
  const unfetched = awaited.map(({ turnId }) => turnId).filter((turnId) => !fetchable(turnId));
  const keys = entries.map(({ key }) => key);
  expect(
    keys.filter((key) => !fetchable(key)),
    unfetched,
    'answers in the outbox',
  );
  for (const key of keys) if (fetched.includes(key)) throw new Error(`answer ${key} is back after it was fetched`);
  for (const { key, result } of entries) {
    const turn = turns.find(({ turnId }) => turnId === key);
    expect(result, turn?.result, `answer ${key}`);
  }
}

async function checkDeadLetters(
  journal: KeptConversations,
  instance: AgentAddress,
  turns: readonly Turn[],
): Promise<void> {
  const given = turns.filter(({ result }) => result.error?.code === 'E_DEAD_LETTER').map(({ turnId }) => turnId);
  const letters = (await journal.deadLetters.list(instance)).map(({ event }) => `turn-${event.id}`);
  expect(letters, given, 'dead letters');
}

function sorted(state: Readonly<Record<string, JsonValue>>): [string, JsonValue][] {
  return Object.entries(state).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function expectOneOf(found: unknown, wanted: readonly unknown[], what: string): void {
  if (!wanted.includes(found)) throw new Error(`${what}: found ${String(found)}, expected one of ${wanted.join(', ')}`);
}

function expect(found: unknown, wanted: unknown, what: string): void {
  expectText(JSON.stringify(found), JSON.stringify(wanted), what);
}

function expectText(found: string, wanted: string, what: string): void {
  if (found !== wanted) throw new Error(`${what}: found ${found}, expected ${wanted}`);
}
