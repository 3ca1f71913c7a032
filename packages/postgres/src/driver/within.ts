/** An answer that did not come in time. */
export class TooLate extends Error {}

/** More time for a statement that was too late before. */
export interface Patience {
  /** How often the usual time passes before the answer is too late. */
  readonly times: number;
  /** Asked each time that the usual time has passed. False: the answer is too late now. */
  readonly mayWait: () => boolean;
}

const IMPATIENT: Patience = { times: 1, mayWait: () => false };

/** Waits for an answer, but not longer than the time. Then rejects with `TooLate`. */
export async function within<Result>(
  answer: Promise<Result>,
  ms: number,
  { times, mayWait }: Patience = IMPATIENT,
): Promise<Result> {
  let timer: ReturnType<typeof setInterval> | undefined;
  let passed = 0;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setInterval(() => {
      passed += 1;
      if (passed >= times || !mayWait()) reject(new TooLate(`no answer in ${passed * ms} ms`));
    }, ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearInterval(timer);
    // An answer that comes later interests nobody.
    answer.catch(() => undefined);
  }
}
