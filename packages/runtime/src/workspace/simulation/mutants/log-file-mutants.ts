/** Deliberate mistakes in the log file. The simulation of the log file alone must catch every one. */
import type { Mutant } from './mutants.ts';

const mistakes: readonly Pick<Mutant, 'name' | 'find' | 'replace' | 'isQuick'>[] = [
  {
    name: 'write only the new bytes through',
    find: 'this.#file.writeThrough(this.#durableEnd, all)',
    replace: 'this.#file.writeThrough(this.#end, bytes)',
    isQuick: true,
  },
  {
    name: 'forget which bytes are not durable',
    find: 'this.#unsynced.push(bytes);',
    replace: '',
  },
  {
    name: 'take the bytes of a killed process for durable',
    find: 'await log.#extend(0);\n      await file.sync();',
    replace: 'await log.#extend(0);',
    isQuick: true,
  },
  {
    name: 'leave a torn end and write over it',
    find: 'if (rest?.some((byte) => byte !== 0)) await log.#removeRest();',
    replace: '',
  },
  {
    name: 'believe bytes of a sync that failed',
    find: 'await log.#storeAgain(fs, options.durableEnd ?? end);',
    replace: '',
  },
  {
    name: 'write into room that is not durable',
    find: 'await this.#extend(length);\n    try {\n      await this.#file.sync();\n    }',
    replace: 'await this.#extend(length);\n    try {\n    }',
    isQuick: true,
  },
  {
    name: 'leave no zero behind the last byte',
    find: 'return this.#end + length < this.#size;',
    replace: 'return this.#end + length <= this.#size;',
  },
  {
    name: 'trim the last zero',
    find: 'this.#size = this.#end + ZERO.length;',
    replace: 'this.#size = this.#end;',
  },
  {
    name: 'remove a torn end without a zero at its start',
    find: 'await this.#file.write(this.#end, ZERO);\n    await this.#file.sync();',
    replace: '',
  },
  {
    name: 'remove a torn end before the zero is durable',
    find: 'await this.#file.write(this.#end, ZERO);\n    await this.#file.sync();',
    replace: 'await this.#file.write(this.#end, ZERO);',
  },
  {
    name: 'leave out the sync on a slow disk',
    find: 'if (bytes.length > 0) await this.#file.write(this.#end, bytes);\n    await this.#file.sync();',
    replace: 'if (bytes.length > 0) await this.#file.write(this.#end, bytes);',
    isQuick: true,
  },
  {
    name: 'keep the unsynced bytes of a failed write as they are',
    find: 'Buffer.concat([...this.#unsynced, ZERO])',
    replace: 'ZERO',
  },
];

export const logFileMutants: readonly Mutant[] = mistakes.map((mistake) => ({
  ...mistake,
  file: 'log-file/log-file.ts',
  caughtBy: 'log file',
}));
