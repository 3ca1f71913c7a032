/** Takes over the changes that a function made to `ctx.turn`: input, metadata, summary and message events. */
import { GoondanError, type MessageEvent } from '@goondan/types';
import { attribute, resultError } from './compat-error.ts';
import type { Entry } from './entries.ts';
import { isUntouched } from './lazy.ts';
import { findAppended, toMessage, toNewEvent } from './message-events.ts';
import { changedMessages, type OpenedContext, type PointRun } from './old-context.ts';
import type { OldMessageState, OldTurn } from './old-types.ts';

export function takeTurn(run: PointRun, entry: Entry, opened: OpenedContext, returned: object): void {
  const { state, layer } = run;
  const { name } = entry.member;
  const turn: unknown = Reflect.get(returned, 'turn');
  if (typeof turn !== 'object' || turn === null) {
    throw resultError(name, entry.point, 'the returned context has no turn; return { ...ctx, … }');
  }
  const { input, messageState, metadata } = turn as OldTurn;
  if (typeof input !== 'string') throw resultError(name, entry.point, 'turn.input is not a text');
  const events = [...appendedEvents(entry, opened, messageState), ...appendedToContext(entry, opened, returned)];
  const isChanged = ([key, value]: [string, unknown]) =>
    !fixed.includes(key) && value !== Reflect.get(opened.turn, key);
  const changed = Object.fromEntries(Object.entries(turn).filter(isChanged));
  Object.assign(state.turn, changed);
  if (typeof changed['summary'] === 'string') entry.member.warnOnce(`${entry.point}: ${LOST_SUMMARY}`);
  if (metadata !== undefined && metadata !== opened.turn.metadata) layer.metadata = metadata;
  for (const event of new Set(events)) emitEvent(run, entry, event);
  if (input !== opened.turn.input) changeInput(run, entry, input);
}

const LOST_SUMMARY =
  'ctx.turn.summary is dropped at the end of the turn. To keep a summary, append a message event, or use api.setState.';

/** Fields that the runtime fills in, or that are taken over in another way. */
const fixed: readonly string[] = ['id', 'messageState', 'metadata', 'toolResults'];

function appendedEvents({ member, point }: Entry, { messages }: OpenedContext, state: OldMessageState): unknown[] {
  if (messages === undefined || (state === messages.state && isUntouched(state, 'events'))) return [];
  if (typeof state !== 'object' || state === null) throw resultError(member.name, point, 'turn has no messageState');
  for (const list of ['baseMessages', 'nextMessages'] as const) {
    if (state !== messages.state && state[list] !== messages.state[list]) throw changedMessages(member.name);
  }
  return findAppended(messages.events(), state.events, member.name, point);
}

/** Returns the events that a function appended to `ctx.messageEvents`, which exists at `turn.post`. */
function appendedToContext({ member, point }: Entry, { messages }: OpenedContext, returned: object): unknown[] {
  const isGiven = point === 'turn.post' && messages !== undefined && 'messageEvents' in returned;
  if (!isGiven || isUntouched(returned, 'messageEvents')) return [];
  return findAppended(messages.events(), returned.messageEvents, member.name, point);
}

/** Replaces the message with the input; an event without input gets a message. */
function changeInput(run: PointRun, entry: Entry, input: string): void {
  const { state } = run;
  const { powers } = state;
  if (powers === undefined) return;
  const before = state.findInput(powers);
  if (before === undefined) {
    const message = toMessage({ id: `${state.turnId}.v010-input`, role: 'user', content: input }, entry.member.name);
    return emit(run, entry, { type: 'append', message });
  }
  const message = { ...before, data: { role: 'user', content: input } as const };
  emit(run, entry, { type: 'replace', targetId: before.id, message });
}

/** Emits an event of v0.10. */
export function emitEvent(run: PointRun, entry: Entry, event: unknown): void {
  emit(run, entry, toNewEvent(event, entry.member.name, entry.point));
}

function emit({ state }: PointRun, { member, point }: Entry, event: MessageEvent): void {
  const { powers } = state;
  if (powers === undefined) {
    const message = `Extension "${member.name}", ${point}: no turn or step is running that can take a message event.`;
    throw attribute(new GoondanError('E_TURN_ENDED', message), member.name);
  }
  try {
    powers.emitMessageEvent(event, member.identity);
  } catch (error) {
    throw attribute(error, member.name);
  }
}
