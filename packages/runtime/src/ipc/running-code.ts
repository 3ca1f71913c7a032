/**
 * The code of the bundle that runs in a process. The process notes it in a file that it shares as memory with the
 * orchestrator, because a process whose event loop is blocked sends nothing any more.
 *
 * 1. A process that runs other code writes one number. It writes text only when that code runs for the first time.
 * 2. Nothing here throws: without the file, or when the file is full, a blocked process has no name for its code.
 * 3. The orchestrator does not trust the file, because bundle code can write to it.
 *
 * The first page of the file begins with the number: that of the conversation, and that of a line of text, which starts
 * at 1. The lines follow after the page. A number without a line means that no code is known to run.
 */
import { readPlainFile } from './channel/frame-files.ts';

/** The code that runs for one conversation. */
export interface RunningCode {
  /** Returns a function that notes that this code runs now, such as `in the step layer of extension notes (notes.ts)`. */
  marker(code: string): () => void;
  /** Notes that this code runs now, and that it may go on at any time until the returned function is called. */
  enter(code: string): () => void;
  /** Notes that the code that ran waits, or is over. From now on, only code that was entered and not left may go on. */
  wait(this: void): void;
}

/** The code in which a process is blocked. */
export interface BlockedCode {
  /** In words, such as `blocked in tool archive__search (tools/archive.ts)`. */
  readonly words: string;
  /** The seat of the conversation in a shared process; 0 in a process of its own. */
  readonly conversation: number;
}

const FILE = 'running-code';
/** The whole page is written at the start, so that a disk that becomes full does not end the process. */
const PAGE = 4_096;
const MOST_LINES = 512;
const LONGEST_LINE = 300;
/** Each character of a line takes at most three bytes. */
const LARGEST_FILE = PAGE + MOST_LINES * (3 * LONGEST_LINE + 1);

const disk = () => process.getBuiltinModule('node:fs');

/** Makes the file in the frame folder of a child, with which it is removed. */
export function makeCodeFile(frameFolder: string): void {
  try {
    disk().mkdirSync(frameFolder, { recursive: true, mode: 0o700 });
    disk().writeFileSync(`${frameFolder}/${FILE}`, new Uint8Array(PAGE), { flag: 'wx', mode: 0o600 });
  } catch {
    // See 2.
  }
}

/** Returns the code that the child noted last; `undefined` if there is none, or the file cannot be read. */
export function readBlockedCode(frameFolder: string): BlockedCode | undefined {
  try {
    const bytes = readPlainFile(`${frameFolder}/${FILE}`, LARGEST_FILE);
    const number = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
    const lines = new TextDecoder().decode(bytes.subarray(PAGE)).split('\n');
    const code = lines[(number % MOST_LINES) - 1];
    if (!Number.isSafeInteger(number) || number < 0 || code === undefined || code === '') return undefined;
    return { words: `blocked ${harmless(code)}`, conversation: Math.floor(number / MOST_LINES) };
  } catch {
    return undefined;
  }
}

function harmless(code: string): string {
  return code.slice(0, LONGEST_LINE).toWellFormed().replaceAll(/\p{C}/gu, '\ufffd');
}

/** Returns the function that makes the `RunningCode` of a conversation of this process. Without a folder, nothing is noted. */
export function noteRunningCode(frameFolder?: string): (conversation?: number) => RunningCode {
  const mapped = frameFolder === undefined ? undefined : mapFile(frameFolder);
  const memory = mapped ?? new Float64Array(1);
  const lines = new Map<string, number>();
  const entered: { readonly code: string; readonly conversation: number }[] = [];
  /** The number to write while all code waits. */
  let waiting = 0;
  let isFull = mapped === undefined;

  function numberOf(code: string, conversation: number): number {
    const line = lines.get(code) ?? addLine(code);
    return line === undefined ? 0 : conversation * MOST_LINES + line;
  }

  function addLine(code: string): number | undefined {
    if (isFull) return undefined;
    // From a failure on: a part of the line may be in the file, and the numbers of further lines would be wrong.
    isFull = true;
    try {
      const line = code.replaceAll(/\s+/g, ' ').slice(0, LONGEST_LINE).toWellFormed();
      disk().appendFileSync(`${frameFolder}/${FILE}`, `${line}\n`);
    } catch {
      return undefined;
    }
    lines.set(code, lines.size + 1);
    isFull = lines.size === MOST_LINES - 1;
    return lines.size;
  }

  /** Nobody knows which of the code that waits goes on. So all of it is named once, sorted, if it is of one conversation. */
  function numberOfEntered(): number {
    const first = entered[0];
    if (first === undefined || entered.some(({ conversation }) => conversation !== first.conversation)) return 0;
    const codes = new Set(entered.map(({ code }) => code));
    return numberOf([...codes].toSorted().join(' or '), first.conversation);
  }

  return (conversation = 0) => ({
    marker(code) {
      let number: number | undefined;
      return () => void (memory[0] = number ??= numberOf(code, conversation));
    },
    enter(code) {
      const own = { code, conversation };
      const number = numberOf(code, conversation);
      waiting = entered.push(own) === 1 ? number : numberOfEntered();
      memory[0] = number;
      return () => {
        entered.splice(entered.indexOf(own), 1);
        waiting = numberOfEntered();
        memory[0] = waiting;
      };
    },
    wait: () => void (memory[0] = waiting),
  });
}

function mapFile(frameFolder: string): Float64Array | undefined {
  try {
    const { buffer, byteOffset } = Bun.mmap(`${frameFolder}/${FILE}`);
    return new Float64Array(buffer, byteOffset, 1);
  } catch {
    return undefined;
  }
}
