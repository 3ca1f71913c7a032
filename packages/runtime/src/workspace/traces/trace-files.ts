/**
 * The traces of an instance: one append-only file per turn.
 *
 * 1. The number of turns and their bytes are bounded; the oldest files are deleted when a new turn begins. The bytes of
 *    one turn are bounded as well.
 * 2. Nothing is synced: a power loss may lose the last lines, but no state.
 * 3. A resumed turn continues in its file.
 */
import { join } from 'node:path';
import type { Fs } from '../../ports/fs.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { StoreLimits } from '../limits.ts';
import { AppendLog } from '../lines/append-log.ts';
import type { LineWriter } from '../lines/gathered-log.ts';
import { readTraceName, traceName } from './trace-names.ts';

/** A line of a trace, and the turn whose file gets it. */
export interface TurnLine {
  readonly turn: Parameters<typeof traceName>[0];
  /** True for the lines that begin and end a turn, which are written even if the file has reached its limit. */
  readonly isNeeded: boolean;
  /**
   * Returns the JSON of the line. It is called when the line is written, and returns `undefined` when the line is no
   * longer needed.
   */
  text(): string | undefined;
}

interface KeptFile {
  readonly name: string;
  bytes: number;
}

export class TraceFiles implements LineWriter<TurnLine> {
  #open: { readonly turnId: string; readonly file: KeptFile; readonly log: AppendLog; isCut: boolean } | undefined;

  private constructor(
    private readonly fs: Fs,
    private readonly folder: string,
    private readonly limits: StoreLimits['traces'] /** Oldest first. */,
    private readonly kept: KeptFile[],
  ) {}

  /** Opens the files; the folder must exist. */
  static async open(fs: Fs, folder: string, limits: StoreLimits['traces']): Promise<TraceFiles> {
    const names = ((await fs.list(folder)) ?? []).filter((name) => readTraceName(name) !== undefined).toSorted();
    const kept: KeptFile[] = [];
    for (const name of names) kept.push({ name, bytes: (await fs.stat(join(folder, name)))?.size ?? 0 });
    return new TraceFiles(fs, folder, limits, kept);
  }

  async append(lines: readonly TurnLine[]): Promise<void> {
    let waiting: Uint8Array[] = [];
    for (const [index, line] of lines.entries()) {
      const text = await this.#take(line, sizeOf(waiting));
      if (text !== undefined) waiting.push(Buffer.from(`${text}\n`));
      if (waiting.length === 0 || lines[index + 1]?.turn.turnId === line.turn.turnId) continue;
      await this.#write(Buffer.concat(waiting));
      waiting = [];
    }
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.log.close();
  }

  /**
   * Returns the text to write for a line. `waiting`: the bytes that will be written to the open file before this line.
   */
  async #take(line: TurnLine, waiting: number): Promise<string | undefined> {
    const open = await this.#fileOf(line);
    if (line.isNeeded || open.log.size + waiting < this.limits.turnBytes) return line.text();
    if (open.isCut) return undefined;
    open.isCut = true;
    return JSON.stringify({ type: 'cut' } satisfies TraceLine);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    await open.log.write(bytes);
    open.file.bytes += bytes.length;
  }

  async #fileOf({ turn }: TurnLine) {
    if (this.#open?.turnId === turn.turnId) return this.#open;
    await this.close();
    const name = traceName(turn);
    const written = readTraceName(name);
    // The file is named after the start of the turn's first run, which is earlier than the start of this run.
    const known = this.kept.findLast((each) => {
      const other = readTraceName(each.name);
      return other?.turn === written?.turn && other?.trace === written?.trace;
    });
    const file = known ?? { name, bytes: 0 };
    if (known === undefined) await this.#makeRoom(file);
    const log = await AppendLog.open(this.fs, join(this.folder, file.name));
    await log.endLine(this.fs);
    this.#open = { turnId: turn.turnId, file, log, isCut: false };
    return this.#open;
  }

  async #makeRoom(file: KeptFile): Promise<void> {
    this.kept.push(file);
    let bytes = this.kept.reduce((sum, each) => sum + each.bytes, 0);
    while (this.kept.length > 1 && (this.kept.length > this.limits.turns || bytes > this.limits.bytes)) {
      const [oldest] = this.kept;
      if (oldest === undefined) return;
      await this.fs.remove(join(this.folder, oldest.name));
      this.kept.shift();
      bytes -= oldest.bytes;
    }
  }
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
