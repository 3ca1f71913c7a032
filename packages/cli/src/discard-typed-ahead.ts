import { closeSync, constants, openSync, readSync } from 'node:fs';

/** The most bytes to discard; the kernel holds 4 KiB, and a program could write to the terminal without end. */
const MOST_BYTES = 1024 * 1024;

/**
 * Discards the keys that were typed at standard input and not read yet, also those of a line without Enter. Nothing
 * happens if standard input is not a terminal. Reading standard input itself could block, so the keys are read through
 * another, non-blocking descriptor of the same terminal.
 */
export function discardTypedAhead(): void {
  const { stdin } = process;
  if (!stdin.isTTY) return;
  const descriptor = openTty();
  if (descriptor === undefined) return;
  try {
    // Without raw mode, the kernel gives out only whole lines.
    stdin.setRawMode(true);
    const bytes = Buffer.alloc(4096);
    for (let left = MOST_BYTES; left > 0;) {
      const read = readSync(descriptor, bytes);
      if (read === 0) break;
      left -= read;
    }
  } catch {
    // EAGAIN: nothing is left to read. Other errors: the terminal was closed, and the question gets no answer.
  } finally {
    closeSync(descriptor);
    leaveRawMode();
  }
}

/** Returns `undefined` if the terminal of standard input cannot be opened a second time. */
function openTty(): number | undefined {
  // After `su`, only `/dev/tty` can be opened. On macOS, opening a descriptor by its path would not make it non-blocking.
  const paths = process.platform === 'linux' ? ['/proc/self/fd/0', '/dev/tty'] : ['/dev/tty'];
  for (const path of paths) {
    try {
      return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // The next path is tried.
    }
  }
  return undefined;
}

function leaveRawMode(): void {
  try {
    process.stdin.setRawMode(false);
  } catch {
    // The terminal was closed: there is nothing to restore.
  }
}
