/**
 * Standard output and standard error. The streams of Node take a third of the time of `gdn --help`, so they are loaded
 * only for a terminal. A file or a pipe gets Bun's own writer, which waits for a slow reader without blocking.
 */
import { fstatSync, statSync } from 'node:fs';

export interface OutputStream {
  /** Calls `taken` when the text has been accepted. */
  write(text: string, taken?: () => void): unknown;
  /** Absent when the stream is not a terminal, although Node's types say that it is always present. */
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The declarations of the package must not need the types of Node. */
export type OutputError = Error & { readonly code?: string };

/** `onError` is called for a text that cannot be written. */
export function openOutput(descriptor: 1 | 2, onError: (error: OutputError) => void): OutputStream {
  if (!isTerminal(descriptor)) return openWriter(descriptor, onError);
  const stream = descriptor === 1 ? process.stdout : process.stderr;
  return stream.on('error', onError);
}

/** Tells whether a descriptor is a terminal. */
export function isTerminal(descriptor: 0 | 1 | 2): boolean {
  return isDevice(descriptor) && process.getBuiltinModule('node:tty').isatty(descriptor);
}

/** Tells whether a descriptor may be a terminal, without loading `node:tty`. */
function isDevice(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev;
  } catch {
    // The descriptor is closed.
    return false;
  }
}

function openWriter(descriptor: number, onError: (error: OutputError) => void): OutputStream {
  const sink = Bun.file(descriptor).writer();
  return {
    write(text, taken) {
      try {
        // Both return a promise while the reader is slow, although the type of `write` says otherwise.
        const written: (number | Promise<number>)[] = [sink.write(text), sink.flush()];
        const pending = written.filter((each) => each instanceof Promise);
        if (pending.length > 0) return Promise.all(pending).then(taken, onError);
        return taken?.();
      } catch (error) {
        // The cast is safe: only the system refuses to write.
        return onError(error as NodeJS.ErrnoException);
      }
    },
  };
}
