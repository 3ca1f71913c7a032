/** For tests: runs a connector in this process. The test acts as the swarm. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  AskSwarm,
  Connector,
  ConnectorAnswer,
  ConnectorContext,
  ConnectorEvent,
  ConnectorQuestions,
  EmitEvent,
} from '@goondan/types';

export interface RunOptions<Config> {
  readonly config: Config;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly agents?: readonly string[];
  /** The folder of an earlier run. Pass it to simulate a restart. */
  readonly folder?: string;
  /** Answers in place of the swarm. When absent, the answer is `You said: …`. */
  readonly ask?: AskSwarm;
  readonly emit?: EmitEvent;
  /** The questions of the swarm. When absent, the Connection may not answer questions. */
  readonly questions?: ConnectorQuestions;
}

export interface RunningConnector {
  /** The accepted events, from both `emit` and `ask`. */
  readonly events: ConnectorEvent[];
  readonly lines: string[];
  /** The address that the connector listens on, without a slash at the end. */
  readonly url: string;
  readonly folder: string;
  stop(): Promise<void>;
}

export const acceptance = {
  agent: 'clerk',
  instanceKey: 'default',
  turnId: 'turn-1',
  traceId: 'f'.repeat(32),
  duplicate: false,
};
const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7 };

const noQuestions: ConnectorQuestions = {
  isAllowed: false,
  list: () => [],
  watch: () => () => undefined,
  answer: async () => undefined,
};

/** Creates an answer, as the swarm would return it. */
export function answerOf(response: string, over: Partial<ConnectorAnswer> = {}): ConnectorAnswer {
  return { ...acceptance, response, finishReason: 'text_response', usage, ...over };
}

/** Starts the connector. Resolves when the connector listens; rejects when it refuses to start. */
export async function runConnector<Config>(
  connector: Connector<Config>,
  { config, secrets = {}, agents = ['clerk'], emit, ask, questions = noQuestions, ...options }: RunOptions<Config>,
): Promise<RunningConnector> {
  const events: ConnectorEvent[] = [];
  const lines: string[] = [];
  const stopping = new AbortController();
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'connector-'));
  const log = (...words: unknown[]) => void lines.push(words.map(String).join(' '));
  const ctx: ConnectorContext<Config> = {
    emit: async (event) => {
      await emit?.(event);
      events.push(event);
    },
    ask: async (event, askOptions) => {
      events.push(event);
      if (ask !== undefined) return ask(event, askOptions);
      askOptions?.onAccepted?.(acceptance);
      return answerOf(`You said: ${event.input ?? ''}`);
    },
    questions,
    config,
    secrets,
    agents,
    folder,
    logger: { ...console, info: log, warn: log, error: log, debug: log },
    signal: stopping.signal,
  };
  const removeFolder = () => {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  const cleanUp = await connector(ctx).catch((error: unknown) => {
    removeFolder();
    throw error;
  });
  return {
    events,
    lines,
    folder,
    get url() {
      const [, url] = /^Listening on (http:\S+)\/$/m.exec(lines.join('\n')) ?? [];
      if (url === undefined) throw new Error('It does not listen.');
      return url;
    },
    async stop() {
      stopping.abort();
      await cleanUp?.();
      removeFolder();
    },
  };
}
