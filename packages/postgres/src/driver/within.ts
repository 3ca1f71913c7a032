/** An answer that did not come in time. */
export class TooLate extends Error {}

/** Waits for an answer, but not longer than the time. Then rejects with `TooLate`. */
export async function within<Result>(answer: Promise<Result>, ms: number): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TooLate(`no answer in ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    // An answer that comes later interests nobody.
    answer.catch(() => undefined);
  }
}
