/** The doors of a swarm: each one can ask, which begins a turn with a question, and each one can answer. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectSwarm, type QuestionSummary, type Swarm } from '@goondan/runtime';
import { textOf } from '@goondan/types';
import { type ClusterAccess, readClusterAccess } from '../../packages/cli/src/cluster/cluster-access.ts';
import type { WorkspaceList } from '../../packages/cli/src/studio/contract.ts';
import type { GdnPlace } from '../../packages/cli/src/testing/gdn-place.ts';
import { StudioPlace } from '../../packages/cli/src/testing/studio-place.ts';
import { controlSocketPath, systemSocketEnvironment } from '../../packages/runtime/src/control/control-socket-path.ts';
import { until } from '../until.ts';

const ciToken = 'a-token-of-the-ci-1';
/** A wait that outlasts a busy machine, and is shorter than a test may take. */
const patient = { within: 60_000 };
export const kimToken = 'a-token-of-kim-0001';
const file = Bun.file(join(import.meta.dir, 'bundle', 'goondan.yaml'));
const tool = Bun.file(join(import.meta.dir, 'bundle', 'tools', 'till.ts'));

/** An input whose turn asks. `end` resolves with the text of its answer. */
export interface Begun {
  readonly question: QuestionSummary;
  readonly end: () => Promise<string>;
}

/** Answers a question. Resolves with `answered`, or with the code of the refusal. */
export type Answer = (question: QuestionSummary, over?: { readonly digest?: string }) => Promise<string>;

export type DoorName = 'client' | 'gdn' | 'studio' | 'socket' | 'http' | 'openai';

export class Doors {
  swarm!: Swarm;
  #studio!: StudioPlace;
  #studioPath = '';
  #cluster: ClusterAccess | undefined;
  #workspaceId = '';
  #count = 0;
  /** The assistant's messages of chats, by the id of the question. */
  readonly #chats = new Map<string, readonly object[]>();

  private constructor(
    private readonly place: GdnPlace,
    private readonly bundle: string,
    private readonly ports: Readonly<Record<'API' | 'RIVAL' | 'SILENT' | 'CHAT', number>>,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async open(place: GdnPlace, env: Readonly<Record<string, string>> = {}): Promise<Doors> {
    // All are held until the last one is found: two connectors at one port would be one door.
    const [api, rival, silent, chat] = [holdPort(), holdPort(), holdPort(), holdPort()];
    const ports = { API: api.port, RIVAL: rival.port, SILENT: silent.port, CHAT: chat.port };
    for (const held of [api, rival, silent, chat]) held.release();
    const yaml = Object.entries(ports).reduce(
      (text, [name, port]) => text.replace(`${name}_PORT`, String(port)),
      await file.text(),
    );
    const bundle = await place.write('doors', { 'goondan.yaml': yaml, 'tools/till.ts': await tool.text() });
    const doors = new Doors(place, bundle, ports, env);
    await doors.start();
    return doors;
  }

  async start(): Promise<void> {
    await this.place.serveWith({ env: this.env }, this.bundle);
    [this.#workspaceId = ''] = readdirSync(join(this.place.stateRoot, 'workspaces'));
    this.swarm = await connectSwarm(this.address);
    this.#cluster = readClusterAccess(undefined, this.env, 'a test');
    this.#studio = new StudioPlace({
      stateRoot: this.place.stateRoot,
      ...(this.#cluster && { cluster: this.#cluster }),
    });
    await this.#studio.enter();
    const { workspaces } = await this.#studio.read<WorkspaceList>('/api/workspaces');
    this.#studioPath = `/api/workspaces/${workspaces[0]?.workspaceId ?? ''}`;
    for (const port of Object.values(this.ports)) {
      await until(() => isUp(port), { ...patient, about: `port ${port} answers` });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async stop(): Promise<void> {
    await this.#studio.studio.stop();
    await this.#cluster?.close();
    await this.swarm.stop({ graceMs: 2_000 });
  }

  get address() {
    return { stateRoot: this.place.stateRoot, workspaceId: this.#workspaceId };
  }

  gdn(...[command = '', ...args]: string[]) {
    return this.place.runWith({ env: this.env }, command, ...args, '--bundle', this.bundle, '--json');
  }

  /** Begins a turn that asks, through each door. */
  readonly ask: Readonly<Record<DoorName, () => Promise<Begun>>> = {
    client: () => this.#begin('client', (input, id) => void this.#deliver(input, id, 'client')),
    gdn: async () => {
      const answered = Promise.withResolvers<string>();
      const sent = (input: string, id: string) =>
        void this.gdn('send', '--agent', 'payer', '--instance', 'gdn', '--id', id, '--input', input, '--wait').then(
          ({ stdout }) => answered.resolve(stdout),
        );
      const begun = await this.#begin('gdn', sent);
      return { ...begun, end: () => answered.promise };
    },
    studio: () =>
      this.#begin('studio', (input) => {
        const body = { agent: 'payer', instanceKey: 'studio', input };
        return void this.#studio.ask(`${this.#studioPath}/send`, { body });
      }),
    socket: () =>
      this.#begin('socket', (input, id) => {
        return void this.#socket('deliver', { agent: 'payer', instanceKey: 'socket', input, id });
      }),
    http: async () => {
      const [input, id] = this.#next();
      const { body } = await this.http('API', '/', { input, id });
      const [question] = (body as { questions: readonly { id: string }[] }).questions;
      const end = () =>
        until(async () => {
          const { status, body: answer } = await this.http('API', '/', { input, id });
          return status !== 202 && JSON.stringify(answer);
        }, patient);
      return { question: await this.#find(({ id: found }) => found === question?.id), end };
    },
    openai: async () => {
      const [input] = this.#next();
      const said = [{ role: 'user', content: input }];
      const { choice } = await this.#complete(said);
      const messages = [...said, choice.message];
      const id = choice.message.tool_calls?.[0]?.id.replace('call_', '') ?? '';
      this.#chats.set(id, messages);
      const wait = { role: 'tool', tool_call_id: `call_${id}`, content: 'wait' };
      const end = () =>
        until(async () => {
          const { choice: next } = await this.#complete([...messages, wait]);
          return next.finish_reason !== 'tool_calls' && (next.message.content ?? '');
        }, patient);
      return { question: await this.#find(({ id: found }) => found === id), end };
    },
  };

  /** Answers through each door. */
  readonly answer: Readonly<Record<DoorName, Answer>> = {
    client: async ({ id, digest }, over) => {
      const reply = { id, digest, decision: 'approved', by: 'kim', via: 'chat', ...over } as const;
      return codeOf(this.swarm.answer(reply));
    },
    gdn: async ({ id }) => {
      const { exitCode, stderr, stdout } = await this.gdn('approve', id);
      return exitCode === 0 ? 'answered' : codeIn(stderr + stdout);
    },
    studio: async ({ id, digest }, over) => {
      const body = { id, digest, decision: 'approved', ...over };
      const response = await this.#studio.ask(`${this.#studioPath}/answer`, { body });
      return response.ok ? 'answered' : codeIn(await response.text());
    },
    socket: async ({ id, digest }, over) => {
      const { ok, text } = await this.#socket('questions/answer', {
        id,
        digest,
        decision: 'approved',
        by: 'kim',
        ...over,
      });
      return ok ? 'answered' : codeIn(text);
    },
    http: ({ id, digest }, over) => this.answerHttp('API', ciToken, id, { digest, ...over }),
    openai: async ({ id }, over) => {
      const messages = this.#chats.get(id) ?? [{ role: 'user', content: 'pay 1' }];
      const content = JSON.stringify({ decision: 'approved', ...over });
      const answer = { role: 'tool', tool_call_id: `call_${id}`, content };
      const { code } = await this.#complete([...messages, answer]);
      return code ?? 'answered';
    },
  };

  async answerHttp(port: keyof Doors['ports'], token: string, id: string, fields: object): Promise<string> {
    const { status, body } = await this.http(port, `/questions/${id}`, { decision: 'approved', ...fields }, token);
    return status === 200 ? 'answered' : codeIn(JSON.stringify(body));
  }

  async http(port: keyof Doors['ports'], path: string, body?: object, token = ciToken) {
    const response = await fetch(`http://127.0.0.1:${this.ports[port]}${path}`, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as object };
  }

  #next(): [input: string, id: string] {
    this.#count += 1;
    return [`pay ${this.#count}`, `input-${this.#count}`];
  }

  /** Sends an input that nobody waits for, and returns its question. */
  async #begin(instanceKey: string, send: (input: string, id: string) => void): Promise<Begun> {
    const [input, id] = this.#next();
    const euros = input.replace('pay ', '');
    send(input, id);
    const question = await this.#find(({ args }) => args['euros'] === euros);
    return { question, end: () => this.#endOf(question, instanceKey) };
  }

  #deliver(input: string, id: string, instanceKey: string) {
    return this.swarm.deliver({ agent: 'payer', instanceKey, input, id });
  }

  /** Waits for the end of the turn that asks. */
  async #endOf({ eventId: id }: QuestionSummary, instanceKey: string): Promise<string> {
    const { result } = await this.swarm.ask({ agent: 'payer', instanceKey, id });
    return textOf(result.responseMessage);
  }

  #find(is: (question: QuestionSummary) => boolean): Promise<QuestionSummary> {
    return until(async () => (await this.swarm.questions()).find(is), {
      ...patient,
      about: `a question: ${String(is)}`,
    });
  }

  async #socket(method: string, body: object): Promise<{ readonly ok: boolean; readonly text: string }> {
    const folder = join(this.place.stateRoot, 'workspaces', this.#workspaceId);
    const unix = controlSocketPath(folder, this.#workspaceId, systemSocketEnvironment());
    const response = await fetch(`http://localhost/v3/${method}`, {
      method: 'POST',
      unix,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { ok: response.ok, text: await response.text() };
  }

  async #complete(messages: readonly object[]) {
    const { body } = await this.http('CHAT', '/v1/chat/completions', { model: 'payer', messages });
    const { choices = [], error } = body as {
      choices?: readonly { finish_reason: string; message: AssistantMessage }[];
      error?: { code: string };
    };
    return { choice: choices[0] ?? { finish_reason: 'error', message: {} }, code: error?.code };
  }
}

interface AssistantMessage {
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
}

/** Returns `answered`, or the code of the error. */
export function codeOf(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    () => 'answered',
    (error: unknown) => codeIn(error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );
}

function codeIn(text: string): string {
  return /\bE_[A-Z_]+\b/.exec(text)?.[0] ?? text;
}

/**
 * Listens at a free port from 20000 to 29999. The system gives out the ports above 32767: another connection of this
 * machine could take such a port before the connector listens, and keep it.
 */
function holdPort(): { readonly port: number; release(): void } {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    try {
      const server = Bun.serve({ port, hostname: '127.0.0.1', reusePort: false, fetch: () => new Response() });
      return { port, release: () => void server.stop(true) };
    } catch {
      // The port is taken. Try another one.
    }
  }
}

function isUp(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}
