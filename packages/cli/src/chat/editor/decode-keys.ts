/**
 * Decodes the bytes of a terminal in raw mode into keys. Bytes arrive in chunks: an incomplete character or escape
 * sequence waits for the next chunk. Unknown sequences are ignored.
 */
import type { EditingKey, Key } from './key.ts';

/** The maximum number of characters in a paste. A longer paste is refused as a whole. */
export const LONGEST_PASTE = 1_000_000;
/** The maximum length of an escape sequence; a longer text is not a sequence. */
const LONGEST_SEQUENCE = 256;

const ESCAPE = '\x1b';
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';

export class KeyDecoder {
  readonly #decoder = new TextDecoder();
  #pending = '';
  /** The paste so far, until its end mark arrives; `undefined` outside of a paste. */
  #paste: { text: string; isTooLong: boolean } | undefined;

  feed(bytes: Uint8Array): Key[] {
    this.#pending += this.#decoder.decode(bytes, { stream: true });
    const keys: Key[] = [];
    while (this.#pending !== '') {
      const before = this.#pending.length;
      const key = this.#paste === undefined ? this.#readKey() : this.#readPaste(this.#paste);
      if (key !== undefined) keys.push(key);
      else if (this.#pending.length === before) break;
    }
    return keys;
  }

  /** Drops an escape character that nothing followed. It was the Escape key, which does nothing here. */
  forgetEscape(): void {
    if (this.#paste === undefined) this.#pending = '';
  }

  /** True while the rest of a sequence is missing. */
  get isWaiting(): boolean {
    return this.#pending !== '' && this.#paste === undefined;
  }

  /**
   * Reads one key or unknown sequence, and removes it from `#pending`. An incomplete sequence stays there until the
   * rest arrives.
   */
  #readKey(): Key | undefined {
    const text = this.#pending;
    if (!text.startsWith(ESCAPE)) {
      // Text that arrives in one chunk becomes one key.
      const [typed = text.charAt(0)] = printable.exec(text) ?? [];
      this.#pending = text.slice(typed.length);
      return readTyped(typed);
    }
    const length = sequenceLength(text);
    if (length === undefined) {
      if (text.length > LONGEST_SEQUENCE) this.#pending = '';
      return undefined;
    }
    const sequence = text.slice(0, length);
    this.#pending = text.slice(length);
    if (sequence === PASTE_START) this.#paste = { text: '', isTooLong: false };
    return readSequence(sequence);
  }

  #readPaste(paste: { text: string; isTooLong: boolean }): Key | undefined {
    const end = this.#pending.indexOf(PASTE_END);
    // The end mark itself may be split between two chunks.
    const upTo = end === -1 ? Math.max(0, this.#pending.length - PASTE_END.length) : end;
    if (!paste.isTooLong) paste.text += this.#pending.slice(0, upTo);
    if (paste.text.length > LONGEST_PASTE) Object.assign(paste, { text: '', isTooLong: true });
    this.#pending = this.#pending.slice(end === -1 ? upTo : end + PASTE_END.length);
    if (end === -1) return undefined;
    this.#paste = undefined;
    return paste.isTooLong ? { type: 'paste-too-long' } : { type: 'paste', text: paste.text };
  }
}

// oxlint-disable-next-line no-control-regex
const printable = /^[^\x00-\x1f\x7f]+/;

function readTyped(typed: string): Key | undefined {
  const type = controlKeys[typed];
  if (type !== undefined) return { type };
  return typed < ' ' ? undefined : { type: 'text', text: typed };
}

const controlKeys: Readonly<
  Record<string, EditingKey | 'interrupt' | 'end-of-input' | 'quit' | 'clear-screen' | 'tab'>
> = {
  '\x01': 'home',
  '\x02': 'left',
  '\x03': 'interrupt',
  '\x04': 'end-of-input',
  '\x05': 'end',
  '\x06': 'right',
  '\x08': 'backspace',
  '\x09': 'tab',
  '\x0a': 'new-line',
  '\x0b': 'delete-to-end',
  '\x0c': 'clear-screen',
  '\x0d': 'enter',
  '\x0e': 'down',
  '\x10': 'up',
  '\x15': 'delete-to-start',
  '\x17': 'delete-word',
  '\x19': 'yank',
  '\x1c': 'quit',
  '\x7f': 'backspace',
};

/** Returns the length of the sequence at the start of `text`; `undefined` while its end is missing. */
function sequenceLength(text: string): number | undefined {
  const body = text.slice(1);
  const kind = body.charAt(0);
  if (kind === '') return undefined;
  // Two escapes in a row: the first was the Escape key.
  if (kind === ESCAPE) return 1;
  if (kind === '[') return lengthOf(/^\[[\x20-\x3f]*[^\x20-\x3f]/.exec(body));
  if (kind === 'O') return lengthOf(/^O[\x30-\x3f]*[^\x30-\x3f]/.exec(body));
  // This kind of sequence is a terminal's response to a query. It ends with BEL or ST.
  // oxlint-disable-next-line no-control-regex
  if (']PX^_'.includes(kind)) return lengthOf(/^[^]*?(?:\x07|\x1b\\)/.exec(body));
  return 1 + String.fromCodePoint(body.codePointAt(0) ?? 0).length;
}

function lengthOf(match: RegExpExecArray | null): number | undefined {
  return match === null ? undefined : 1 + match[0].length;
}

function readSequence(sequence: string): Key | undefined {
  const type = altKeys[sequence.slice(1)] ?? readControlSequence(sequence);
  return type === undefined ? undefined : { type };
}

/** The meanings of keys that are pressed together with Alt. */
const altKeys: Readonly<Record<string, EditingKey>> = {
  '\r': 'new-line',
  '\n': 'new-line',
  b: 'word-left',
  f: 'word-right',
  d: 'delete-next-word',
  '\x7f': 'delete-word',
  '\x08': 'delete-word',
};

/** Reads a sequence such as `ESC [ 1 ; 5 C`: a number, a modifier, a letter. */
function readControlSequence(sequence: string): EditingKey | undefined {
  const [, parameters = '', final = ''] = /^[[O]([\d;:]*)([A-Za-z~])$/.exec(sequence.slice(1)) ?? [];
  const [number = '', modifier = ''] = parameters.split(';');
  if (final === '~' && number === '27') return isEnter(parameters.split(';')[2]);
  if (final === 'u') return isEnter(number);
  const isModified = modifier !== '' && modifier !== '1';
  if (isModified && (final === 'C' || final === 'D')) return final === 'C' ? 'word-right' : 'word-left';
  return final === '~' ? numberedKeys[number] : letterKeys[final];
}

/** Returns `new-line` for the code of Enter. Some terminals send this code for Enter with Shift, Alt or Ctrl. */
function isEnter(code: string | undefined): EditingKey | undefined {
  return code === '13' ? 'new-line' : undefined;
}

const letterKeys: Readonly<Record<string, EditingKey>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  F: 'end',
  H: 'home',
};

const numberedKeys: Readonly<Record<string, EditingKey>> = {
  '1': 'home',
  '3': 'delete',
  '4': 'end',
  '7': 'home',
  '8': 'end',
};
