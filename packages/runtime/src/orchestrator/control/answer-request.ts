/** Answers one HTTP request of the control socket or of a control port: finds its operation, and runs it. */
import { GoondanError } from '@goondan/types';
import { Refusal } from '@goondan/types/http';
import { type OperationName, operationNames, operations, PROTOCOL } from '../../control/operations.ts';
import { answerOperation } from './answer-operation.ts';
import type { ControlHost } from './control-host.ts';
import { codedError, refuse } from './refuse.ts';

/** Returns an answer for every request. `permit` throws when the client may not use the operation. */
export async function answerRequest(
  host: ControlHost,
  request: Request,
  permit: (name: OperationName) => void = () => undefined,
): Promise<Response> {
  try {
    const url = URL.parse(request.url);
    if (url === null) throw new Refusal(400, 'E_CONTROL_REQUEST', 'The address of the request is not a URL.');
    const name = findOperation(request.method, url.pathname);
    permit(name);
    return await answerOperation(host, name, request, url);
  } catch (error) {
    return refuse(codedError(host, error, 'The request'));
  }
}

function findOperation(method: string, path: string): OperationName {
  const atPath = operationNames.filter((name) => PROTOCOL + operations[name].path === path);
  const found = atPath.find((name) => operations[name].method === method);
  if (found !== undefined) return found;
  const shown = path.slice(0, 100);
  if (atPath.length > 0) {
    const allowed = atPath.map((name) => operations[name].method).join(', ');
    throw new Refusal(405, 'E_CONTROL_ENDPOINT', `${shown} supports ${allowed}, not ${method}.`, {
      Allow: allowed,
    });
  }
  const [version] = /^\/v\d+(?=\/|$)/.exec(path) ?? [];
  if (version !== undefined && version !== PROTOCOL) {
    throw new GoondanError('E_CONTROL_VERSION', `This swarm speaks ${PROTOCOL}, not ${version.slice(0, 20)}.`);
  }
  throw new GoondanError('E_CONTROL_ENDPOINT', `There is no endpoint ${shown}.`);
}
