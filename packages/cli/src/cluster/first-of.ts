import { type Clock, systemClock } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

/** The time after which the next one is tried, too, while the others have not answered. */
const NEXT_MS = 500;

/**
 * Returns the result of the first attempt that succeeds. They begin in order: the next one when the one before has failed
 * or takes long, so that a machine that does not answer costs little. **Errors** — that of the first attempt;
 * `E_CONTROL_CLOSED` if there is none.
 */
export function firstOf<Value>(
  attempts: readonly (() => Promise<Value>)[],
  clock: Clock = systemClock,
): Promise<Value> {
  const outcome = Promise.withResolvers<Value>();
  const errors: unknown[] = [];
  let begun = 0;
  let isOver = false;
  const begin = () => {
    const attempt = attempts[begun];
    if (isOver || attempt === undefined) return;
    const number = begun++;
    const callOff = clock.after(NEXT_MS, begin);
    void attempt().then(
      (value) => {
        isOver = true;
        callOff();
        outcome.resolve(value);
      },
      (error: unknown) => {
        callOff();
        errors[number] = error;
        if (Object.keys(errors).length === attempts.length) outcome.reject(errors[0]);
        else if (begun === number + 1) begin();
      },
    );
  };
  begin();
  if (attempts.length === 0) outcome.reject(new GoondanError('E_CONTROL_CLOSED', 'There is no node to connect to.'));
  return outcome.promise;
}
