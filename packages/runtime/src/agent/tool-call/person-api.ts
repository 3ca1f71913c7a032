/** `ctx.person`: lets a tool ask a person for a filled form, or to open a page. */
import { GoondanError, type PersonApi, type PersonReply, type PersonRequest } from '@goondan/types';
import { copyJsonObject } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import { checkPage } from '../../questions/check-page.ts';
import { readForm } from '../../questions/read-form.ts';
import type { RunningTurn } from '../turn-state/running-turn.ts';
import { checkRequest } from './ask-for-approval.ts';
import { askPerson, type PersonQuestion } from './ask-person.ts';
import { type HandlerRun, waitInHandler } from './handler-run.ts';

const LONGEST_SERVER = 200;

/** `extension`: the extension that registered the tool. */
export function personApi(turn: RunningTurn, run: HandlerRun, extension: string | undefined): PersonApi {
  return {
    ask: (request) => {
      const reply = ask(turn, run, extension, request);
      // If a handler ignores this promise, its rejection must not end the process.
      reply.catch(() => undefined);
      return reply;
    },
  };
}

async function ask(
  turn: RunningTurn,
  run: HandlerRun,
  extension: string | undefined,
  request: PersonRequest,
): Promise<PersonReply> {
  const { call, bounds } = run;
  // First, so that questions are numbered in order.
  const key = turn.effects.nextKey(`${call.key}/person`, 'approval');
  const subject = readSubject(request);
  const asking = readAsking(extension, request.server);
  const withdrawn = request.signal === undefined ? [] : [request.signal];
  const { id, outcome } = await askPerson(turn, call, {
    key,
    ...subject,
    ...asking,
    args: {},
    // Aborts also when the call is over, because a handler may return without waiting for its questions.
    signal: AbortSignal.any([bounds.signal, call.approvals.signal, ...withdrawn]),
    resting: (wait) => waitInHandler(turn, run, wait),
  });
  // The answer is durable in the log, so the approver may delete it.
  if (id !== undefined) turn.agent.approver.taken(id);
  const { decision, content, by, via, note } = outcome;
  return { outcome: words[decision], ...defined({ content, by, via, note }) };
}

const words = { approved: 'answered', denied: 'declined', expired: 'expired' } as const;

function readAsking(extension: string | undefined, server: unknown): Pick<PersonQuestion, 'askedBy'> {
  if (server !== undefined && (typeof server !== 'string' || server === '' || server.length > LONGEST_SERVER))
    throw wrong('server is not a name');
  const asking = defined({ extension, server });
  return Object.keys(asking).length === 0 ? {} : { askedBy: asking };
}

/** **Errors** — `E_APPROVAL_REQUEST`. */
function readSubject(
  request: PersonRequest,
): Pick<PersonQuestion, 'kind' | 'reason' | 'expiresInMs' | 'schema' | 'url'> {
  const { reason, expiresInMs } = checkRequest(request);
  const { form, url } = request;
  if ((form === undefined) === (url === undefined)) throw wrong('it needs a form or a url, and not both');
  if (url !== undefined) {
    const problem = typeof url === 'string' ? checkPage(url) : 'its address is not a text';
    if (problem !== undefined) throw wrong(problem);
    // The host in ASCII, so that no host looks like another one.
    return { kind: 'page', reason, expiresInMs, url: new URL(url).href };
  }
  const refuse = ({ message }: Error) => wrong(`its form is not JSON: ${message}`);
  const schema = copyJsonObject(form, { omitUndefined: true, refuse });
  const fields = readForm(schema);
  if ('problem' in fields) throw wrong(fields.problem);
  return { kind: 'form', reason, expiresInMs, schema };
}

function wrong(problem: string): GoondanError {
  return new GoondanError('E_APPROVAL_REQUEST', `The question to a person is not valid: ${problem}.`);
}
