/**
 * Sends one request to the control socket of a swarm or the control port of a node. Returns the answer, or throws a `GoondanError`: the swarm's own error, or an
 * error of the connection.
 */
import { GoondanError, type InputPart, toContentPart } from '@goondan/types';
import { dirname } from 'node:path';
import type { ControlSocket } from './control-socket.ts';
import { currentUserId } from './control-socket-path.ts';
import { fetchNode } from './fetch-node.ts';
import { fetchUnix, type SocketRequest } from './fetch-unix.ts';
import { findFolderProblem } from './find-folder-problem.ts';
import { EVENT_STREAM, type Operation, PROTOCOL } from './operations.ts';
import { checkAnswer, notUnderstood, readJson, readRefusal } from './read-answer.ts';
import { readEvents } from './read-events.ts';
import { watchSilence } from './watch-silence.ts';

/** Sends a request and returns the checked answer. */
export async function callSocket<Request extends object, Answer>(
  socket: ControlSocket,
  operation: Operation<Request, Answer>,
  request: Request,
): Promise<Answer> {
  const silence = watchSilence(socket, operation.isPatient === true);
  try {
    const response = await send(socket, operation, request, silence.signal);
    return checkAnswer(operation.answer.check, await readJson(response));
  } catch (error) {
    throw connectionError(socket, error, silence.signal);
  } finally {
    silence.end();
  }
}

/**
 * Opens a stream of events. Resolves when the swarm begins to answer. The iterator of events ends with the stream, and
 * throws when the connection is lost. Call `end` when you stop reading, also after an error.
 */
export async function openStream<Request extends object>(
  socket: ControlSocket,
  operation: Operation<Request, unknown>,
  request: Request,
) {
  const silence = watchSilence(socket, false);
  try {
    const { body } = await send(socket, operation, request, silence.signal, { Accept: EVENT_STREAM });
    if (body === null) throw notUnderstood('without a stream');
    return { events: readEvents(readAlive(socket, body, silence)), end: silence.leave, hasEnded: silence.hasLeft };
  } catch (error) {
    silence.end();
    throw connectionError(socket, error, silence.signal);
  }
}

async function send(
  { place, what }: ControlSocket,
  { method, path: at }: Pick<Operation<unknown, unknown>, 'method' | 'path'>,
  request: object,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  const url = new URL(PROTOCOL + at, 'http://localhost');
  if (method === 'GET') {
    for (const [key, value] of Object.entries(request))
      if (value !== undefined) url.searchParams.set(key, String(value));
  }
  const body = method === 'GET' ? {} : { body: encode(request) };
  const response = await fetchFrom(place, url, { method, headers, signal, ...body });
  if (!response.ok) throw refusalOf(await readJson(response), place, what);
  return response;
}

async function fetchFrom(place: ControlSocket['place'], url: URL, request: SocketRequest): Promise<Response> {
  if (!('path' in place)) return fetchNode(place, url, request);
  checkFolder(place.path);
  return fetchUnix(place.path, url, request);
}

/**
 * Makes the error from an answer. For a version mismatch, uses the suggestion of this version, because an older swarm
 * does not know newer versions.
 */
function refusalOf(body: unknown, place: ControlSocket['place'], what: string): GoondanError {
  const refusal = readRefusal(body);
  const node = 'path' in place ? undefined : place.relayedBy;
  if (refusal.code === 'E_CLUSTER_TOKEN' && node !== undefined) return ownRefusal(node, what, refusal);
  if (refusal.code !== 'E_CONTROL_VERSION') return refusal;
  return new GoondanError(refusal.code, `${what} was started by another version of Goondan: ${refusal.message}`);
}

/** A node passed a request on, so its own token was refused, not that of its client. */
function ownRefusal(node: string, what: string, cause: GoondanError): GoondanError {
  const message = `${what} refuses the token of node "${node}", which passed the request on: ${cause.message}`;
  const suggestion = `Start node "${node}" again with a token that \`gdn store token list\` lists. Your own token is accepted.`;
  return new GoondanError(cause.code, message, { suggestion, cause });
}

function encode(body: object): string {
  try {
    return JSON.stringify(withTextBytes(body));
  } catch (error) {
    throw new GoondanError('E_CONTROL_REQUEST', 'The request cannot be written as JSON.', { cause: error });
  }
}

/** Makes the bytes of files base64. */
function withTextBytes(body: object): object {
  if (!('content' in body) || !Array.isArray(body.content)) return body;
  // Safe: only fields that are bytes change, and the swarm checks every part.
  const isPart = (part: unknown): part is InputPart => typeof part === 'object' && part !== null && 'type' in part;
  return { ...body, content: body.content.map((part: unknown) => (isPart(part) ? toContentPart(part) : part)) };
}

/**
 * Throws if the folder of the socket is not safe, for example if it belongs to another user, so that nothing is sent to
 * a foreign socket. Also throws errors of the disk.
 */
function checkFolder(path: string): void {
  const problem = findFolderProblem(dirname(path), currentUserId());
  if (problem !== undefined) throw new GoondanError('E_CONTROL_PATH', `${dirname(path)} ${problem}.`);
}

/** Yields the chunks of the body. Each chunk restarts the silence timer. */
async function* readAlive(
  socket: ControlSocket,
  body: AsyncIterable<Uint8Array>,
  silence: ReturnType<typeof watchSilence>,
) {
  try {
    for await (const chunk of body) {
      silence.break();
      yield chunk;
    }
  } catch (error) {
    if (!silence.hasLeft()) throw connectionError(socket, error, silence.signal);
  }
}

function connectionError({ place, what }: ControlSocket, error: unknown, signal: AbortSignal): GoondanError {
  if (GoondanError.is(error)) return error;
  if (GoondanError.is(signal.reason)) return signal.reason;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (['ENOENT', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'ETIMEDOUT'].includes(code)) {
    const suggestion = 'Start the swarm, then ask again.';
    return new GoondanError('E_CONTROL_CLOSED', `${what} is not running.`, { suggestion, cause: error });
  }
  if ('path' in place && ['EACCES', 'EPERM', 'ENOTDIR', 'ENAMETOOLONG'].includes(code)) {
    return new GoondanError('E_CONTROL_PATH', `${place.path} cannot be opened: ${code}.`, { cause: error });
  }
  const message = `${what} closed the connection before it answered; whether the request took effect is unknown.`;
  return new GoondanError('E_CONTROL_CLOSED', message, { cause: error });
}
