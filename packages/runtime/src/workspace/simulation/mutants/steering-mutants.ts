/** Deliberate mistakes about inputs that running turns take. */
import type { Mutant } from './mutants.ts';

export const steeringMutants: readonly Mutant[] = [
  {
    name: 'end all input up to a taken one',
    file: 'records/log-state.ts',
    find: 'while (numbers.has(last + 1)) last += 1;',
    replace: 'last = Math.max(last, ...numbers);',
    caughtBy: 'steering',
  },
  {
    name: 'forget which input was taken with the next commit',
    file: 'records/log-state.ts',
    find: 'const numbers = new Set([...before, ...taken.map(([seq]) => seq)]);',
    replace: 'const numbers = new Set(taken.map(([seq]) => seq));',
    caughtBy: 'steering',
  },
  {
    name: 'commit a turn without the input that it took',
    file: 'journal/plan-commit.ts',
    find: '...(taken.length > 0 && { taken }),',
    replace: '',
    caughtBy: 'steering',
  },
  {
    name: 'write a checkpoint without the taken input',
    file: 'journal/checkpoint.ts',
    find: '...(state.taken.length > 0 && { taken: state.taken }),',
    replace: '',
    caughtBy: 'steering',
  },
  {
    name: 'take out all lines up to a taken one',
    file: 'inbox/open-inbox.ts',
    find: 'isTaken ? { handled: 0, taken: [seq] } : { handled: seq, taken: [] }',
    replace: '{ handled: seq, taken: [] }',
    caughtBy: 'steering',
  },
  {
    name: 'take out lines of events that are not taken',
    file: 'inbox/instance-inbox.ts',
    find: `if ('event' in payload) return !this.#settled.has(seq);`,
    replace: `if ('event' in payload) return false;`,
    caughtBy: 'steering',
  },
  {
    name: 'mark a taken event that is sent again as the last handled one',
    file: 'journal/instance-writer.ts',
    find: 'if (entry && !this.#state.isHandled(entry.seq)) {',
    replace: 'if (entry && entry.seq > this.#state.inbox) {',
    caughtBy: 'steering',
  },
  {
    name: 'forget the result of a turn for the events that it took',
    file: 'journal/instance-writer.ts',
    find: 'for (const { event } of taken) this.place.finished.add(turnIdOf(event.id), result, usage);',
    replace: '',
    caughtBy: 'steering',
  },
];
