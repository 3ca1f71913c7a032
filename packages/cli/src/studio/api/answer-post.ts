/** Handlers for the actions of a person in a workspace, carried out through the control socket of its swarm. */
import {
  eventIdOf,
  exactObject,
  flag,
  jsonObject,
  listOf,
  name,
  oneOf,
  optional,
  text,
} from '@goondan/runtime/internal';
import type { InputPart } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import type { SwarmPlace } from '../../swarm/swarm-place.ts';
import type { Acceptance, Done } from '../contract.ts';
import { checkBody } from '../http/check-body.ts';
import type { StudioHost } from '../studio-host.ts';
import { answerQuestion, checkAnswer, revokeGrant } from './answer-question.ts';
import { reachWorkspace } from './reach-workspace.ts';

/**
 * Handlers by the last part of the address. Each returns a value to send as JSON. **Errors** — `E_STUDIO_REQUEST`,
 * `E_CONTROL_CLOSED`, and those of the swarm.
 */
export const answerPost = new Map<string, (host: StudioHost, place: SwarmPlace, body: unknown) => Promise<object>>([
  ['send', send],
  ['cancel', cancel],
  ['answer', answerQuestion],
  ['check', checkAnswer],
  ['revoke', revokeGrant],
  ['dead-letter', moveDeadLetter],
]);

// These checks accept a body only if it has all required fields, each with the right type, and no unknown fields.
const address = { agent: name, instanceKey: name };

/** The swarm checks the parts of `content`. `now`: the input is for the running turn. */
const checkSend = checkBody(
  exactObject({ ...address, input: text, content: optional(listOf(jsonObject)), now: optional(flag) }),
);

/** Without `turnId`, the request cancels the running turn. */
const checkCancel = checkBody(exactObject({ ...address, turnId: optional(name) }));

const checkDeadLetter = checkBody(exactObject({ ...address, eventId: name, action: oneOf('retry', 'drop') }));

/** The maximum number of characters of an input's text. */
const LONGEST_TEXT = 1_000_000;

async function send(host: StudioHost, place: SwarmPlace, body: unknown): Promise<Acceptance> {
  const { agent, instanceKey, input, content, now } = checkSend(body);
  if (input.length > LONGEST_TEXT)
    throw new Refusal(413, 'E_STUDIO_REQUEST', `The text has more than ${LONGEST_TEXT} characters.`);
  // Safe: the swarm checks the parts, with an error that names the part.
  const files = content === undefined ? {} : { content: content as unknown as readonly InputPart[] };
  const when = now === true ? { now } : {};
  return (await reachWorkspace(host, place)).deliver({
    agent,
    instanceKey,
    input,
    ...files,
    ...when,
    client: 'studio',
  });
}

async function cancel(host: StudioHost, place: SwarmPlace, body: unknown): Promise<Done> {
  const { agent, instanceKey, turnId } = checkCancel(body);
  const at = { agent, instanceKey, ...(turnId === undefined ? {} : { eventId: eventIdOf(turnId) }) };
  return { done: await (await reachWorkspace(host, place)).cancel(at) };
}

async function moveDeadLetter(host: StudioHost, place: SwarmPlace, body: unknown): Promise<Done> {
  const { agent, instanceKey, eventId, action } = checkDeadLetter(body);
  const method = action === 'retry' ? 'retryDeadLetter' : 'dropDeadLetter';
  const swarm = await reachWorkspace(host, place);
  return { done: await swarm[method]({ agent, instanceKey, eventId }) };
}
