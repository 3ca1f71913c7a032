/**
 * One caller of a keeper: an agent process at its end of the socket. Its open requests end with it, and are cancelled at
 * the server. A caller that sends too much, or something else than requests, is cut off; other callers do not notice.
 */
import type { JsonObject } from '@goondan/types';
import { CallerQuestions } from './caller-questions.ts';
import { FrameSocket } from './frame-socket.ts';
import { describeFailure } from './kept-failure.ts';
import { type KeptRequest, readFromCaller, tooLong } from './kept-frames.ts';
import type { KeptServer } from './kept-server.ts';
import type { LastWords } from './mcp-client.ts';
import type { AnswerQuestion } from './server-question.ts';

/** The maximum number of requests of one caller that are open at a time. */
export const MOST_OPEN = 256;

export interface CallerDeps {
  readonly server: Pick<KeptServer, 'run' | 'lastWords'>;
  /** Called once, when the caller is gone. `problem` is empty unless the caller was cut off. */
  readonly onGone: (problem: string) => void;
}

export class Caller {
  readonly frames: FrameSocket;
  readonly #open = new Map<number, AbortController>();
  readonly #questions = new CallerQuestions((frame) => this.frames.send(frame));
  #isConnected = false;

  constructor(
    socket: Bun.Socket<unknown>,
    private readonly deps: CallerDeps,
  ) {
    this.frames = new FrameSocket(socket, {
      onFrame: (frame) => {
        const read = readFromCaller(frame);
        if (read === undefined) return this.frames.cutOff('it sent a message that is no request');
        if ('cancel' in read) this.#cancel(read.cancel);
        else if ('answer' in read) this.#questions.take(read);
        else this.#begin(read);
      },
      onClosed: (problem) => {
        this.#leave();
        deps.onGone(problem);
      },
    });
  }

  /** Reports an event of the server, unless the caller is not connected to it, or just connects. */
  tell(event: 'toolsChanged' | 'closed', lastWords: LastWords): void {
    if (!this.#isConnected) return;
    if (event === 'closed') this.#isConnected = false;
    this.frames.send({ event, lastWords: toJson(lastWords) });
  }

  /** Closes the socket, and cancels the open requests. */
  close(): void {
    this.frames.close();
    this.#leave();
  }

  #begin(request: KeptRequest): void {
    const { id } = request;
    if (this.#open.has(id)) return this.frames.cutOff(`it used the number ${id} twice`);
    if (this.#open.size >= MOST_OPEN) return this.frames.cutOff(`it has more than ${MOST_OPEN} open requests`);
    const controller = new AbortController();
    this.#open.set(id, controller);
    void this.#answer(request, controller.signal).finally(() => this.#open.delete(id));
  }

  async #answer(request: KeptRequest, signal: AbortSignal): Promise<void> {
    const { id, timeoutMs, traceparent, wantsProgress, takesQuestions } = request;
    const onProgress = (progress: string) => this.frames.send({ id, progress });
    const onQuestion: AnswerQuestion = (question, withdrawn) => this.#questions.ask(id, question, withdrawn);
    try {
      const value = await this.deps.server.run(request, {
        timeoutMs,
        signal,
        ...(wantsProgress ? { onProgress } : {}),
        ...(takesQuestions ? { onQuestion } : {}),
        ...(traceparent === undefined ? {} : { traceparent }),
      });
      if (request.method === 'connect') this.#isConnected = true;
      if (!signal.aborted && !this.frames.send({ id, value })) throw tooLong('its answer is');
    } catch (error) {
      if (signal.aborted) return;
      this.frames.send({ id, failed: describeFailure(error), lastWords: toJson(this.deps.server.lastWords()) });
    }
  }

  #cancel(id: number): void {
    this.#open.get(id)?.abort(new Error('cancelled by the caller'));
  }

  #leave(): void {
    for (const controller of this.#open.values()) controller.abort(new Error('the caller is gone'));
  }
}

function toJson({ exit, lines }: LastWords): JsonObject {
  return { exit, lines: [...lines] };
}
