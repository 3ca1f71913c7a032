/**
 * Collects everything to show of one conversation: from the server, from notices, and from inputs that this page sent.
 */
import type { ConversationView, InstanceAddress, TimelineView, TurnList, WorkspaceView } from '@goondan/cli/studio';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { LiveTurn } from '../live/live-turns.ts';
import { addressOf } from '../server/ask-server.ts';
import { useQuery } from '../server/use-query.ts';
import { useRecorded } from '../server/use-recorded.ts';
import { groupByTurn } from './group-by-turn.ts';
import { callsIn, outcomesOf } from './message-parts.ts';
import { pendingInputs, type SentInput, toldInputs } from './sent-inputs.ts';

export interface ConversationQuestion {
  readonly view: WorkspaceView;
  readonly shown: InstanceAddress;
  /** The event after which to show the conversation; the newest event when absent. */
  readonly at: number | undefined;
  /** The running turn, as far as notices have described it. */
  readonly heard: LiveTurn | undefined;
  /** A number that changes when the conversation changed on disk. */
  readonly commits: number;
  /** The number of newest messages to show. */
  readonly last: number;
}

export function useConversation({ view, shown, at, heard, commits, last }: ConversationQuestion) {
  const { workspaceId } = view;
  const { agent, instanceKey } = shown;
  const instance = view.conversations.find((each) => each.agent === agent && each.instanceKey === instanceKey);
  const isKnown = instance !== undefined;
  const [sent, setSent] = useState<readonly SentInput[]>([]);
  const ask = (what: string, query = {}) =>
    isKnown ? addressOf(workspaceId, what, { agent, instanceKey, ...query }) : undefined;
  const [missed, setMissed] = useState(0);
  const version = `${commits} ${missed}`;
  const conversation = useQuery<ConversationView>(ask('conversation', { at, last }), version);
  const timeline = useQuery<TimelineView>(ask('timeline'), version);
  const live = useLiveTurn(heard, conversation.version === version);
  // The input of another client is in the trace before it is in a message.
  const isOthers = live !== undefined && !sent.some(({ turnId }) => turnId === live.turnId);
  const recorded = useRecorded(`${version} ${isOthers ? live.turnId : ''}`);
  const turns = useQuery<TurnList>(ask('turns', { last: 200 }), recorded);

  const messages = conversation.value?.messages ?? nothing;
  const groups = useMemo(() => groupByTurn(messages), [messages]);
  const outcomes = useMemo(() => outcomesOf(messages), [messages]);
  const calls = useMemo(() => callsIn(messages), [messages]);
  const summaries = useMemo(() => byTurn(turns.value?.turns), [turns.value]);
  const results = useMemo(() => byTurn(timeline.value?.turns), [timeline.value]);
  // A turn counts as committed as soon as either the timeline or the messages contain it.
  const told = useMemo(
    () => new Set([...results.keys(), ...groups.map(({ turnId }) => turnId), ...toldInputs(messages)]),
    [results, groups, messages],
  );
  const running = live && { ...unfinished(turns.value, told), ...live };
  const untold = pendingInputs(sent, told, view.deadLetters);
  // Drops committed inputs for good, so that they do not become pending again if their turn is deleted later.
  if (untold.length < sent.length) setSent(untold);
  const pending = pendingInputs(untold, told, view.deadLetters, running && summaries.get(running.turnId ?? ''));

  const isNow = at === undefined;
  const read = isNow && conversation.value ? conversation.value.earlier + messages.length : undefined;
  useWhenMissed(
    instance?.messages,
    read,
    useCallback(() => setMissed((count) => count + 1), []),
  );
  const questions = view.questions.filter(
    (each) => (each.agent === agent && each.instanceKey === instanceKey) || each.traceId === running?.traceId,
  );
  const hasAnswer = conversation.value !== undefined || !isKnown;
  return {
    messages,
    earlier: conversation.value?.earlier ?? 0,
    error: conversation.error,
    timeline: timeline.value,
    groups,
    outcomes,
    calls,
    summaries,
    results,
    running,
    pending,
    questions,
    isLoading: !hasAnswer && conversation.error === undefined,
    isEmpty: hasAnswer && groups.length + pending.length === 0 && running === undefined,
    noteSent: (input: SentInput) => setSent((inputs) => [...inputs, input]),
  };
}

const nothing: ConversationView['messages'] = [];

/** Indexes turns by id; if an id occurs twice, the last turn is used. */
function byTurn<Turn extends { readonly turnId: string }>(turns: readonly Turn[] = []): ReadonlyMap<string, Turn> {
  return new Map(turns.map((turn) => [turn.turnId, turn]));
}

/**
 * Finds the running turn among the recorded turns, because a page that was opened during a turn does not know its id
 * yet.
 */
function unfinished(list: TurnList | undefined, told: ReadonlySet<string>) {
  const turn = list?.turns.find(({ turnId, durationMs }) => durationMs === undefined && !told.has(turnId));
  return turn && { turnId: turn.turnId, traceId: turn.traceId, startedAt: turn.startedAt };
}

/**
 * Returns the running turn. A turn that has ended is returned until its commit was read, so that its text does not
 * flicker.
 */
function useLiveTurn(live: LiveTurn | undefined, isRead: boolean): LiveTurn | undefined {
  const [latest, setLatest] = useState<LiveTurn>();
  if (live !== undefined && live !== latest) setLatest(live);
  if (live === undefined && latest !== undefined && isRead) setLatest(undefined);
  return live ?? (isRead ? undefined : latest);
}

/** How long the page may take to show a commit. */
const PATIENCE_MS = 1_000;

/**
 * Reads again when the number of messages on the page differs from the number on disk for longer than `PATIENCE_MS`.
 * Then the conversation was reset, or the notice of a commit was missed.
 */
function useWhenMissed(there: number | undefined, read: number | undefined, readAgain: () => void): void {
  useEffect(() => {
    if (there === undefined || read === undefined || there === read) return;
    const timer = setTimeout(readAgain, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [there, read, readAgain]);
}
