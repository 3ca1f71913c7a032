/**
 * Writes the traces of an instance to the trace files of its workspace (`trace-blocks.ts`). The bytes of one turn are
 * bounded, for each process that works on it.
 */
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { LineWriter } from '../lines/gathered-log.ts';
import type { SharedLog } from '../lines/shared-log.ts';
import { blockTag, encodeHeader, lineStart } from './trace-blocks.ts';
import { traceName } from './trace-names.ts';

/** A line of a trace, and its turn. */
export interface TurnLine {
  readonly turn: Parameters<typeof traceName>[0];
  /** True for the lines that begin and end a turn, which are written even if the turn has reached its limit. */
  readonly isNeeded: boolean;
  /**
   * Returns the JSON of the line. It is called when the line is written, and returns `undefined` when the line is no
   * longer needed.
   */
  text(): string | undefined;
}

/** The turn whose lines are being written. */
interface CurrentTurn extends LimitedTurn {
  readonly turnId: string;
  readonly header: string;
  readonly lineStart: string;
}

/** The bytes of one turn so far. The caller adds the bytes that it writes. */
export interface LimitedTurn {
  bytes: number;
  isCut: boolean;
}

export class TraceWriter implements LineWriter<TurnLine> {
  #current: CurrentTurn | undefined;

  /** `instance`: the name of the instance's folder. `turnBytes`: the limit of one turn. */
  constructor(
    private readonly log: Pick<SharedLog, 'append'>,
    private readonly instance: string,
    private readonly turnBytes: number,
    readonly close: () => Promise<void>,
  ) {}

  async append(lines: readonly TurnLine[]): Promise<void> {
    let text = '';
    let block: CurrentTurn | undefined;
    for (const line of lines) {
      const current = this.#turnOf(line);
      const made = textWithin(line, current, this.turnBytes);
      if (made === undefined) continue;
      if (block !== current) text += current.header;
      block = current;
      const encoded = `${current.lineStart}${made}}\n`;
      current.bytes += Buffer.byteLength(encoded);
      text += encoded;
    }
    if (text !== '') await this.log.append(Buffer.from(text));
  }

  #turnOf({ turn }: TurnLine): CurrentTurn {
    if (this.#current?.turnId === turn.turnId) return this.#current;
    const name = traceName(turn);
    const tag = blockTag(name, this.instance);
    this.#current = {
      turnId: turn.turnId,
      header: encodeHeader(tag, name, this.instance),
      lineStart: lineStart(tag),
      bytes: 0,
      isCut: false,
    };
    return this.#current;
  }
}

/**
 * Returns the text to write for a line. When the turn has reached its limit, the first line that is not needed becomes a
 * line that says so, and the others are left out: `undefined`.
 */
export function textWithin(line: TurnLine, turn: LimitedTurn, turnBytes: number): string | undefined {
  if (line.isNeeded || turn.bytes < turnBytes) return line.text();
  if (turn.isCut) return undefined;
  turn.isCut = true;
  return JSON.stringify({ type: 'cut' } satisfies TraceLine);
}
