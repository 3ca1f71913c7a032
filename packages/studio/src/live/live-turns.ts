/**
 * The running turns as notices describe them: the text so far, and the running tools. These are pure functions from one
 * state to the next, so that they can be tested without a browser. `MOST_TOOLS` and `LONGEST_TEXT` limit the size of
 * the state.
 */
import type { InstanceAddress, StudioNotice } from '@goondan/cli/studio';

export interface LiveTool {
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly state: 'running' | 'waiting' | 'ok' | 'error';
  /** The time at which the call began. */
  readonly since: string;
}

export interface LiveTurn extends InstanceAddress {
  readonly turnId?: string;
  readonly traceId?: string;
  /** The streamed text of the current step. */
  readonly text: string;
  readonly reasoning: string;
  /** The index of the current step; absent before the first notice of a step. */
  readonly stepIndex?: number;
  /** The times at which the turn and its current step began; absent if their notices were missed. */
  readonly startedAt?: string;
  readonly stepAt?: string;
  /** The limit of a model that the turn waits for, in words. */
  readonly limit?: string;
  readonly tools: readonly LiveTool[];
  /** True when the beginning of the text was dropped. */
  readonly isCut?: boolean;
  /** True when the last report of the swarm's instances did not contain this turn; see `settleTurns`. */
  readonly isDoubted?: boolean;
}

/** Running turns by agent and instance key, because an instance runs one turn at a time. */
export type LiveTurns = Readonly<Record<string, LiveTurn>>;

/** The maximum number of tool calls of one turn; older calls are dropped. */
const MOST_TOOLS = 100;
const LONGEST_TEXT = 256 * 1024;

export function liveKey(agent: string, instanceKey: string): string {
  return JSON.stringify([agent, instanceKey]);
}

export function followNotice(turns: LiveTurns, notice: StudioNotice): LiveTurns {
  switch (notice.type) {
    case 'swarm':
      return notice.isRunning ? turns : {};
    case 'turn.ended':
      return without(turns, notice.end.agent, notice.end.instanceKey);
    case 'delta': {
      const { agent, instanceKey } = notice.at;
      return change(turns, agent, instanceKey, (turn) => write(turn, notice));
    }
    case 'runtime.event': {
      const { agent, instanceKey } = notice.at;
      if (notice.name === 'turn.started') {
        return { ...turns, [liveKey(agent, instanceKey)]: begin(agent, instanceKey, notice.payload) };
      }
      // Ignores other events, because some of them arrive after the end of the turn.
      if (!/^(?:step|tool|approval|limit)\./.test(notice.name)) return turns;
      return change(turns, agent, instanceKey, (turn) => happen(turn, notice.name, notice.payload));
    }
    default:
      return turns;
  }
}

type Payload = Extract<StudioNotice, { type: 'runtime.event' }>['payload'];

function begin(agent: string, instanceKey: string, payload: Payload): LiveTurn {
  const startedAt = textIn(payload, 'timestamp');
  return { agent, instanceKey, ...namesIn(payload), text: '', reasoning: '', stepIndex: 0, startedAt, tools: [] };
}

/** Creates a running turn about which nothing is known yet. */
export function emptyTurn(agent: string, instanceKey: string): LiveTurn {
  return { agent, instanceKey, text: '', reasoning: '', tools: [] };
}

function namesIn(payload: Payload): Pick<LiveTurn, 'turnId' | 'traceId'> {
  const [turnId, traceId] = [textIn(payload, 'turnId'), textIn(payload, 'traceId')];
  return { ...(turnId === '' ? {} : { turnId }), ...(traceId === '' ? {} : { traceId }) };
}

function write(turn: LiveTurn, { delta, soFar }: Extract<StudioNotice, { type: 'delta' }>): LiveTurn {
  const { turnId, stepIndex } = delta;
  // A new step starts with an empty text: the text of the last step is already a message, or was discarded.
  const isNew = stepIndex !== turn.stepIndex;
  const current = { ...turn, turnId, stepIndex, ...(isNew ? { text: '', reasoning: '', isCut: false } : {}) };
  if (delta.type === 'discard') return { ...current, text: '', reasoning: '', isCut: false };
  const before = soFar === undefined ? current[delta.type] : '';
  const written = `${before}${delta.text}`;
  const isCut = current.isCut === true || soFar === 'end' || written.length > LONGEST_TEXT;
  return { ...current, [delta.type]: written.slice(-LONGEST_TEXT), isCut };
}

const toolStates: Readonly<Record<string, LiveTool['state']>> = {
  'tool.called': 'running',
  'approval.asked': 'waiting',
  'approval.decided': 'running',
  'tool.completed': 'ok',
  'tool.failed': 'error',
};

function happen(turn: LiveTurn, name: string, payload: Payload): LiveTurn {
  if (name === 'step.started') {
    const { stepIndex } = payload;
    const step = typeof stepIndex === 'number' ? { stepIndex } : {};
    const stepAt = textIn(payload, 'timestamp');
    return { ...turn, ...namesIn(payload), text: '', reasoning: '', isCut: false, stepAt, ...step };
  }
  const { limit: _over, ...unlimited } = turn;
  if (name === 'limit.reached') return { ...turn, limit: textIn(payload, 'limit') };
  if (name === 'limit.waited') return unlimited;
  const known = toolStates[name];
  if (known === undefined) return turn;
  const failed = name === 'tool.completed' && payload['status'] === 'error';
  const toolCallId = textIn(payload, 'toolCallId');
  const place = turn.tools.findIndex(({ id }) => id === toolCallId);
  const tool: LiveTool = {
    id: toolCallId,
    name: textIn(payload, 'toolName'),
    args: textIn(payload, 'args'),
    state: failed ? 'error' : known,
    since: turn.tools[place]?.since ?? textIn(payload, 'timestamp'),
  };
  const others = turn.tools.filter(({ id }) => id !== tool.id);
  const tools = place < 0 ? [...others, tool] : others.toSpliced(place, 0, tool);
  return { ...turn, ...namesIn(payload), tools: tools.slice(-MOST_TOOLS) };
}

function change(turns: LiveTurns, agent: string, instanceKey: string, how: (turn: LiveTurn) => LiveTurn): LiveTurns {
  const id = liveKey(agent, instanceKey);
  const { isDoubted: _heardOf, ...turn } = turns[id] ?? emptyTurn(agent, instanceKey);
  return { ...turns, [id]: how(turn) };
}

function without(turns: LiveTurns, agent: string, instanceKey: string): LiveTurns {
  const { [liveKey(agent, instanceKey)]: _ended, ...others } = turns;
  return others;
}

function textIn(payload: Payload, name: string): string {
  const value = payload[name];
  return typeof value === 'string' ? value : '';
}
