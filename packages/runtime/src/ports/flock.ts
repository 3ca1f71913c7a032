/**
 * The system's lock on an open file, `flock`. The lock belongs to the open file, so it ends with the process, however
 * the process ends. The lock works between all processes of the machine, in any pid namespace
 * (docs/decisions.md, "A flock owns a workspace"). This is the only file that calls C.
 */

/**
 * Takes the lock without waiting. `taken`: another open file has the lock. `unsupported`: the file system, or this
 * operating system, has no such lock.
 */
export type Flock = (
  descriptor: number,
) => Promise<
  | { readonly answer: 'locked' }
  | { readonly answer: 'taken' }
  | { readonly answer: 'unsupported'; readonly why: string }
>;

const LOCK_EX = 2;
const LOCK_NB = 4;

export const systemFlock: Flock = async (descriptor) => {
  const library = await openLibrary();
  if (library.why !== undefined) return { answer: 'unsupported', why: library.why };
  for (let attempt = 0; attempt < MOST_INTERRUPTIONS; attempt += 1) {
    if (library.lock(descriptor, LOCK_EX | LOCK_NB) === 0) return { answer: 'locked' };
    const number = library.errno();
    if (number === numbers.wouldBlock) return { answer: 'taken' };
    if (number !== numbers.interrupted) return { answer: 'unsupported', why: `flock fails with errno ${number}` };
  }
  return { answer: 'unsupported', why: 'flock is interrupted again and again' };
};

const MOST_INTERRUPTIONS = 100;
const isMac = process.platform === 'darwin';
const numbers = { wouldBlock: isMac ? 35 : 11, interrupted: 4 };

/**
 * Loads the C library. Only processes that own a workspace do this. With musl, `libc.so.6` works as well, because musl
 * answers every name that begins with `libc.` itself.
 */
async function openLibrary() {
  try {
    const { dlopen, read } = await import('bun:ffi');
    const flock = { args: ['int', 'int'], returns: 'int' } as const;
    const place = { args: [], returns: 'ptr' } as const;
    if (isMac) {
      const { symbols } = dlopen('libSystem.B.dylib', { flock, __error: place });
      // oxlint-disable-next-line no-underscore-dangle -- its name in the C library
      return { lock: symbols.flock, errno: () => errnoAt(symbols.__error()) };
    }
    const { symbols } = dlopen('libc.so.6', { flock, __errno_location: place });
    // oxlint-disable-next-line no-underscore-dangle -- its name in the C library
    return { lock: symbols.flock, errno: () => errnoAt(symbols.__errno_location()) };

    function errnoAt(address: ReturnType<typeof symbols.__errno_location>): number {
      return address === null ? 0 : read.i32(address, 0);
    }
  } catch (error) {
    return { why: `flock cannot be called: ${error instanceof Error ? error.message : String(error)}` };
  }
}
