/**
 * A client whose server runs in a keeper process, so that the server outlives the agent's process. Closing this client
 * leaves the server running. The keeper knows the address of the server, and reads it again with each `connect`.
 */
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import type { Clock } from './clock.ts';
import { FrameSocket } from './frame-socket.ts';
import { readFailure } from './kept-failure.ts';
import { type KeptMethod, tooLong } from './kept-frames.ts';
import { KeptQuestions } from './kept-questions.ts';
import type {
  AskOptions,
  ClientEvents,
  LastWords,
  ListedTool,
  McpClient,
  ServerAbilities,
  ToolReply,
} from './mcp-client.ts';
import { McpFailure } from './mcp-failure.ts';
import type { AnswerQuestion } from './server-question.ts';
import type { ServerTarget } from './server-target.ts';

/** The pause between two attempts to reach a keeper that has not started yet. */
const PAUSE_MS = 50;

interface Pending {
  readonly resolve: (value: JsonValue) => void;
  readonly reject: (reason: unknown) => void;
  readonly onProgress: ((said: string) => void) | undefined;
  readonly onQuestion: AnswerQuestion | undefined;
  /** The failure if the keeper goes away before it has answered. */
  readonly lost: McpFailure['kind'];
}

export class KeptClient implements McpClient {
  readonly #pending = new Map<number, Pending>();
  readonly #questions = new KeptQuestions();
  #frames: FrameSocket | undefined;
  #nextId = 1;
  /** The number of `connect` and `close` calls, by which an attempt notices that it is out of date. */
  #turn = 0;
  #isOpen = false;
  #lastWords: LastWords = { exit: '', lines: [] };

  constructor(
    private readonly path: string,
    private readonly clock: Clock,
    private readonly events: ClientEvents,
    /** The reason why the keeper may not run yet. An attempt then does not wait for it. */
    private readonly refused?: string,
  ) {}

  async connect(_target: ServerTarget, options: AskOptions): Promise<ServerAbilities> {
    await this.close();
    await this.#reach(options.timeoutMs);
    const abilities = await this.#ask('connect', {}, options, 'unreached').catch(async (error: unknown) => {
      await this.close();
      throw error;
    });
    this.#isOpen = true;
    const { tools, resources, prompts } = isObject(abilities) ? abilities : {};
    return { tools: tools === true, resources: resources === true, prompts: prompts === true };
  }

  // The casts below are safe: the keeper passes on what its own client, which uses the SDK, has checked.

  async listTools(options: AskOptions): Promise<readonly ListedTool[]> {
    return (await this.#ask('listTools', {}, options, 'unreached')) as unknown as ListedTool[];
  }

  async callTool(name: string, args: JsonObject, options: AskOptions): Promise<ToolReply> {
    return (await this.#ask('callTool', { name, args }, options)) as unknown as ToolReply;
  }

  async listResources(options: AskOptions): Promise<JsonObject> {
    return (await this.#ask('listResources', {}, options)) as JsonObject;
  }

  async readResource(uri: string, options: AskOptions): Promise<JsonObject> {
    return (await this.#ask('readResource', { name: uri }, options)) as JsonObject;
  }

  async listPrompts(options: AskOptions): Promise<JsonObject> {
    return (await this.#ask('listPrompts', {}, options)) as JsonObject;
  }

  async getPrompt(name: string, args: Readonly<Record<string, string>>, options: AskOptions): Promise<JsonObject> {
    return (await this.#ask('getPrompt', { name, args: { ...args } }, options)) as JsonObject;
  }

  lastWords(): LastWords {
    return this.#lastWords;
  }

  /** Leaves the keeper. The keeper cancels the open calls. */
  async close(): Promise<void> {
    this.#turn += 1;
    this.#isOpen = false;
    this.#frames?.close();
    this.#frames = undefined;
    this.#failAll('the connection was closed.');
  }

  /** Connects to the socket. Tries again until the time is over, because the keeper may be starting. */
  async #reach(timeoutMs: number): Promise<void> {
    const turn = this.#turn;
    const end = this.clock.elapsed() + timeoutMs;
    for (;;) {
      const frames = await this.#open().catch(() => undefined);
      if (turn !== this.#turn) {
        frames?.close();
        throw new McpFailure('unreached', 'it is closed.');
      }
      if (frames !== undefined) {
        this.#frames = frames;
        return;
      }
      if (this.refused !== undefined) throw new GoondanError('E_MCP_KEPT', this.refused);
      if (this.clock.elapsed() >= end) throw new McpFailure('unreached', 'its keeper does not answer.');
      await new Promise<void>((resolve) => void this.clock.after(PAUSE_MS, resolve));
    }
  }

  async #open(): Promise<FrameSocket> {
    const opened = Promise.withResolvers<FrameSocket>();
    let frames: FrameSocket | undefined;
    const socket = await Bun.connect({
      unix: this.path,
      socket: {
        open: (own) => {
          const made = new FrameSocket(own, {
            onFrame: (frame) => this.#hear(frame),
            onClosed: (problem) => this.#lose(made, problem),
          });
          frames = made;
          opened.resolve(made);
        },
        data: (_, chunk) => frames?.receive(chunk),
        drain: () => frames?.drain(),
        close: () => frames?.closed(),
        error: () => frames?.closed(),
      },
    });
    // An open socket must not keep the process of the agent alive.
    socket.unref();
    return opened.promise;
  }

  #ask(
    method: KeptMethod,
    about: { readonly name?: string; readonly args?: JsonObject },
    { timeoutMs, signal, onProgress, onQuestion, traceparent }: AskOptions,
    lost: McpFailure['kind'] = 'broken',
  ): Promise<JsonValue> {
    const frames = this.#frames;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (frames === undefined) return Promise.reject(new McpFailure('unreached', 'it is not connected.'));
    const id = this.#nextId++;
    const answer = Promise.withResolvers<JsonValue>();
    const leave = () => {
      frames.send({ cancel: id });
      answer.reject(signal?.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.#pending.set(id, { resolve: answer.resolve, reject: answer.reject, onProgress, onQuestion, lost });
    const trace = traceparent === undefined ? {} : { traceparent };
    const wants = { wantsProgress: onProgress !== undefined, takesQuestions: onQuestion !== undefined };
    const request = { id, method, timeoutMs, ...about, ...trace, ...wants };
    if (!frames.send(request)) answer.reject(tooLong('the arguments are'));
    return answer.promise.finally(() => {
      this.#pending.delete(id);
      this.#questions.end(id);
      signal?.removeEventListener('abort', leave);
    });
  }

  #hear(frame: JsonValue): void {
    if (!isObject(frame)) return;
    const { id, value, failed, progress, question, withdrawn, event, lastWords } = frame;
    if (lastWords !== undefined) this.#lastWords = readLastWords(lastWords);
    if (event === 'toolsChanged') return void (this.#isOpen && this.events.onToolsChanged());
    if (event === 'closed') return this.#lose(this.#frames, 'the keeper lost its server.');
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (pending === undefined || typeof id !== 'number') return;
    if (question !== undefined) return this.#answer(id, question, pending);
    if (withdrawn !== undefined) return this.#questions.withdraw(id, withdrawn);
    if (typeof progress === 'string') return pending.onProgress?.(progress);
    if (failed === undefined) pending.resolve(value ?? null);
    else pending.reject(readFailure(failed));
  }

  #answer(id: number, question: JsonValue, { onQuestion }: Pending): void {
    const frames = this.#frames;
    void this.#questions.answer(id, question, onQuestion, (frame) => frames?.send(frame) ?? true);
  }

  #lose(frames: FrameSocket | undefined, problem: string): void {
    if (frames === undefined || frames !== this.#frames) return;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#frames = undefined;
    frames.close();
    this.#failAll(problem === '' ? 'its keeper has ended.' : problem);
    if (wasOpen) this.events.onClosed();
  }

  #failAll(problem: string): void {
    const { exit, lines } = this.#lastWords;
    const said = lines.length === 0 ? '' : `It said: ${lines.join(' / ')}`;
    const message = [problem, exit, said].filter((text) => text !== '').join(' ');
    for (const { reject, lost } of this.#pending.values()) reject(new McpFailure(lost, message));
  }
}

function readLastWords(value: JsonValue): LastWords {
  const { exit, lines } = isObject(value) ? value : {};
  return {
    exit: typeof exit === 'string' ? exit : '',
    lines: Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : [],
  };
}
