/**
 * One request to a control socket. It comes back as what the socket answered, or as a `GoondanError`: the swarm's own,
 * or one that says what became of the connection.
 */
import { GoondanError } from '@goondan/types';
import { dirname } from 'node:path';
import type { Check } from '../ipc/check/shape.ts';
import type { ControlSocket } from './control-socket.ts';
import { currentUserId } from './control-socket-path.ts';
import { type Endpoint, EVENT_STREAM } from './endpoints.ts';
import { findFolderProblem } from './find-folder-problem.ts';
import { checkAnswer, notUnderstood, readJson, readRefusal } from './read-answer.ts';
import { readEvents, type StreamEvent } from './read-events.ts';
import { type Silence, watchSilence } from './watch-silence.ts';

export interface SocketRequest {
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: object;
  /** The answer may take as long as a turn. */
  readonly patient?: boolean;
}

/** The answer, checked. */
export async function callSocket<Answer>(
  socket: ControlSocket,
  endpoint: Endpoint,
  check: Check<Answer>,
  request: SocketRequest = {},
): Promise<Answer> {
  const silence = watchSilence(socket, request.patient === true);
  try {
    const response = await send(socket, endpoint, request, silence.signal);
    return checkAnswer(check, await readJson(response));
  } catch (error) {
    throw connectionError(socket, error, silence.signal);
  } finally {
    silence.end();
  }
}

export interface SocketStream {
  readonly events: AsyncIterable<StreamEvent>;
  /** To be called however the reading ended. */
  readonly end: () => void;
}

/** Resolves when the socket began to answer. The events end when it ends, throw when the connection is lost. */
export async function openStream(
  socket: ControlSocket,
  endpoint: Endpoint,
  request: SocketRequest = {},
): Promise<SocketStream> {
  const silence = watchSilence(socket, false);
  try {
    const { body } = await send(socket, endpoint, request, silence.signal, { Accept: EVENT_STREAM });
    if (body === null) throw notUnderstood('without a stream');
    return { events: readEvents(readAlive(socket, body, silence)), end: silence.leave };
  } catch (error) {
    silence.end();
    throw connectionError(socket, error, silence.signal);
  }
}

async function send(
  { path }: ControlSocket,
  { method, path: at }: Endpoint,
  { query = {}, body }: SocketRequest,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  checkFolder(path);
  const url = new URL(at, 'http://localhost');
  for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, value);
  const response = await fetch(url, {
    unix: path,
    method,
    headers,
    signal,
    // A connection that is used again may be one to a swarm that is gone, and the request would be sent a second time.
    keepalive: false,
    ...(body === undefined ? {} : { body: encode(body) }),
  });
  if (!response.ok) throw readRefusal(await readJson(response));
  return response;
}

function encode(body: object): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw new GoondanError('E_CONTROL_REQUEST', 'The request cannot be written as JSON.', { cause: error });
  }
}

/** A stranger's socket must not be told anything. Throws what the disk says. */
function checkFolder(path: string): void {
  const problem = findFolderProblem(dirname(path), currentUserId());
  if (problem !== undefined) throw new GoondanError('E_CONTROL_PATH', `${dirname(path)} ${problem}.`);
}

/** Passes the chunks on; each is a sign of life. */
async function* readAlive(socket: ControlSocket, body: AsyncIterable<Uint8Array>, silence: Silence) {
  try {
    for await (const chunk of body) {
      silence.break();
      yield chunk;
    }
  } catch (error) {
    if (!silence.hasLeft()) throw connectionError(socket, error, silence.signal);
  }
}

function connectionError({ path, what }: ControlSocket, error: unknown, signal: AbortSignal): GoondanError {
  if (error instanceof GoondanError) return error;
  if (signal.reason instanceof GoondanError) return signal.reason;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT' || code === 'ECONNREFUSED') {
    const suggestion = 'Start the swarm, then ask again.';
    return new GoondanError('E_CONTROL_CLOSED', `${what} is not running.`, { suggestion, cause: error });
  }
  if (['EACCES', 'EPERM', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) {
    return new GoondanError('E_CONTROL_PATH', `${path} cannot be opened: ${code}.`, { cause: error });
  }
  const message = `${what} went away before it answered; what it did is unknown.`;
  return new GoondanError('E_CONTROL_CLOSED', message, { cause: error });
}
