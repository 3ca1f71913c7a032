import { type Check, ShapeError } from '@goondan/runtime/internal';
import { Refusal } from '@goondan/types/http';

/** Makes a check of a request's body. **Errors** of the check — `E_STUDIO_REQUEST`. */
export function checkBody<Body>(check: Check<Body>): Check<Body> {
  return (value) => {
    try {
      return check(value);
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      throw new Refusal(400, 'E_STUDIO_REQUEST', `The body of the request: ${error.message}.`);
    }
  };
}
