/** Handlers for the actions of a person in a workspace, carried out through the control socket of its swarm. */
import type { Swarm } from '@goondan/runtime';
import {
  type Check,
  eventIdOf,
  exactObject,
  flag,
  isBelowSwarm,
  jsonObject,
  listOf,
  ShapeError,
  name,
  oneOf,
  optional,
  text,
} from '@goondan/runtime/internal';
import { GoondanError, type InputPart } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { attachSwarm } from '../../swarm/attach-swarm.ts';
import type { SwarmPlace } from '../../swarm/swarm-place.ts';
import type { Acceptance, Done } from '../contract.ts';
import { findStartCommand } from '../start-anywhere.ts';
import type { StudioHost } from '../studio-host.ts';

/**
 * Handlers by the last part of the address. Each returns a value to send as JSON. **Errors** — `E_STUDIO_REQUEST`,
 * `E_CONTROL_CLOSED`, and those of the swarm.
 */
export const answerPost = new Map<string, (host: StudioHost, place: SwarmPlace, body: unknown) => Promise<object>>([
  ['send', send],
  ['cancel', cancel],
  ['approval', answerQuestion],
  ['dead-letter', moveDeadLetter],
]);

// These checks accept a body only if it has all required fields, each with the right type, and no unknown fields.
const address = { agent: name, instanceKey: name };

/** The swarm checks the parts of `content`. `now`: the input is for the running turn. */
const checkSend = refusing(
  exactObject({ ...address, input: text, content: optional(listOf(jsonObject)), now: optional(flag) }),
);

/** Without `turnId`, the request cancels the running turn. */
const checkCancel = refusing(exactObject({ ...address, turnId: optional(name) }));

/** If the call is denied, the model reads `note`. */
const checkApproval = refusing(exactObject({ id: name, decision: oneOf('approve', 'deny'), note: optional(text) }));

const checkDeadLetter = refusing(exactObject({ ...address, eventId: name, action: oneOf('retry', 'drop') }));

/** The maximum number of characters of an input's text. */
const LONGEST_TEXT = 1_000_000;

/** The maximum time to wait for the swarm before the page gets an error. */
const SILENCE_MS = 20_000;

async function send(host: StudioHost, place: SwarmPlace, body: unknown): Promise<Acceptance> {
  const { agent, instanceKey, input, content, now } = checkSend(body);
  if (input.length > LONGEST_TEXT)
    throw new Refusal(413, 'E_STUDIO_REQUEST', `The text has more than ${LONGEST_TEXT} characters.`);
  // Safe: the swarm checks the parts, with an error that names the part.
  const files = content === undefined ? {} : { content: content as unknown as readonly InputPart[] };
  const when = now === true ? { now } : {};
  return (await reach(host, place)).deliver({ agent, instanceKey, input, ...files, ...when, client: 'studio' });
}

async function cancel(host: StudioHost, place: SwarmPlace, body: unknown): Promise<Done> {
  const { agent, instanceKey, turnId } = checkCancel(body);
  const at = { agent, instanceKey, ...(turnId === undefined ? {} : { eventId: eventIdOf(turnId) }) };
  return { done: await (await reach(host, place)).cancel(at) };
}

async function answerQuestion(host: StudioHost, place: SwarmPlace, body: unknown): Promise<Done> {
  const { id, decision, note } = checkApproval(body);
  if (isBelowSwarm()) {
    throw new GoondanError('E_APPROVAL_BELOW_AGENT', 'This Studio was started by an agent. Only a person may answer.');
  }
  const swarm = await reach(host, place);
  const said = note === undefined ? {} : { note };
  const given = decision === 'approve' ? 'approved' : 'denied';
  try {
    await swarm.answer({ id, decision: given, by: 'studio', via: 'studio', ...said });
    return { done: true };
  } catch (error) {
    if (GoondanError.is(error) && (error.code === 'E_QUESTION_ENDED' || error.code === 'E_QUESTION_UNKNOWN'))
      return { done: false };
    throw error;
  }
}

async function moveDeadLetter(host: StudioHost, place: SwarmPlace, body: unknown): Promise<Done> {
  const { agent, instanceKey, eventId, action } = checkDeadLetter(body);
  const method = action === 'retry' ? 'retryDeadLetter' : 'dropDeadLetter';
  const swarm = await reach(host, place);
  return { done: await swarm[method]({ agent, instanceKey, eventId }) };
}

/** **Errors** — `E_CONTROL_CLOSED`, with the command that starts the swarm, if it is known. */
async function reach(host: StudioHost, place: SwarmPlace): Promise<Swarm> {
  const swarm = await attachSwarm(place, { silenceMs: SILENCE_MS });
  if (swarm !== undefined) return swarm;
  const command = await findStartCommand(host, place);
  const suggestion = command === undefined ? {} : { suggestion: `Start it with \`${command}\`, then try again.` };
  throw new GoondanError('E_CONTROL_CLOSED', 'The swarm is not running.', suggestion);
}

/** **Errors** — `E_STUDIO_REQUEST`. */
function refusing<Body>(check: Check<Body>): Check<Body> {
  return (value) => {
    try {
      return check(value);
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      throw new Refusal(400, 'E_STUDIO_REQUEST', `The body of the request: ${error.message}.`);
    }
  };
}
