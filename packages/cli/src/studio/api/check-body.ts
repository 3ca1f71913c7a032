/** Checks the bodies of requests: required fields exist, every field has its type, and there are no others. */
import { type Check, exactObject, Misfit, name, oneOf, optional, text } from '@goondan/runtime/internal';
import { Refusal } from '@goondan/types/http';

const address = { agent: name, instanceKey: name };

/** **Errors** — `E_STUDIO_REQUEST`, as in the other checks. */
export const checkSend = refusing(exactObject({ ...address, input: text }));

/** Without `turnId`, the running turn is meant. */
export const checkCancel = refusing(exactObject({ ...address, turnId: optional(name) }));

/** `note` is for the model, when the call is denied. */
export const checkApproval = refusing(
  exactObject({ id: name, decision: oneOf('approve', 'deny'), note: optional(text) }),
);

export const checkDeadLetter = refusing(exactObject({ ...address, eventId: name, action: oneOf('retry', 'drop') }));

function refusing<Body>(check: Check<Body>): Check<Body> {
  return (value) => {
    try {
      return check(value);
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      throw new Refusal(400, 'E_STUDIO_REQUEST', `The body of the request: ${error.message}.`);
    }
  };
}
