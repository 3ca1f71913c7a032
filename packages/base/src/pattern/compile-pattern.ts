/** Compiles texts, globs and regular expressions into programs that match in linear time. */
import { type Node, parseRegex } from './parse-regex.ts';
import { type Instruction, matches, type Program } from './program.ts';

/** The maximum number of instructions. Together with `LONGEST_TEXT` it limits the cost of one match. */
const LONGEST_PROGRAM = 1_000;
/** The maximum length of a text, in characters. For a longer text a matcher returns `undefined`. */
export const LONGEST_TEXT = 10_000;

/** Tells whether a text matches; `undefined` when the text is too long to examine. */
export type Matcher = (text: string) => boolean | undefined;

/**
 * Compiles a glob: `*` matches any number of characters, including line breaks, `?` matches one, and all other
 * characters match themselves. The whole text must match.
 */
export function compileGlob(glob: string): Matcher {
  const parts = Array.from(glob, (character): Node => {
    if (character === '*') return { is: 'repeat', what: anything, least: 0, most: undefined };
    if (character === '?') return anything;
    return { is: 'take', fits: (codePoint) => codePoint === character.codePointAt(0) };
  });
  return matcher(compile({ is: 'sequence', parts }, `the pattern "${glob}"`), 'whole');
}

/**
 * Compiles a regular expression, which matches anywhere in the text unless it contains `^` and `$`. Throws an `Error`
 * that describes the problem.
 */
export function compileRegex(source: string): Matcher {
  return matcher(compile(parseRegex(source), `the regular expression "${source}"`), 'search');
}

const anything: Node = { is: 'take', fits: () => true };

function matcher(program: Program, mode: 'search' | 'whole'): Matcher {
  return (text) => (text.length > LONGEST_TEXT ? undefined : matches(program, text, mode));
}

function compile(node: Node, pattern: string): Program {
  const program: Instruction[] = [];
  const push = (instruction: Instruction): number => {
    if (program.length >= LONGEST_PROGRAM) throw new Error(`${pattern} is too long`);
    return program.push(instruction) - 1;
  };
  const emit = (each: Node): void => {
    switch (each.is) {
      case 'take':
        return void push({ does: 'take', fits: each.fits });
      case 'assert':
        return void push({ does: 'assert', at: each.at });
      case 'sequence':
        return each.parts.forEach(emit);
      case 'choice':
        return emitChoice(each.options);
      case 'repeat': {
        for (let count = 0; count < each.least; count++) emit(each.what);
        if (each.most === undefined) return emitLoop(each.what);
        return emitOptional(each.what, each.most - each.least);
      }
    }
  };
  const emitChoice = (options: readonly Node[]): void => {
    const jumps: number[] = [];
    options.forEach((option, index) => {
      if (index === options.length - 1) return emit(option);
      const split = push({ does: 'jump', to: 0 });
      emit(option);
      jumps.push(push({ does: 'jump', to: 0 }));
      program[split] = { does: 'split', first: split + 1, second: program.length };
    });
    for (const jump of jumps) program[jump] = { does: 'jump', to: program.length };
  };
  const emitLoop = (what: Node): void => {
    const split = push({ does: 'jump', to: 0 });
    emit(what);
    push({ does: 'jump', to: split });
    program[split] = { does: 'split', first: split + 1, second: program.length };
  };
  const emitOptional = (what: Node, times: number): void => {
    const splits: number[] = [];
    for (let count = 0; count < times; count++) {
      splits.push(push({ does: 'jump', to: 0 }));
      emit(what);
    }
    for (const split of splits) program[split] = { does: 'split', first: split + 1, second: program.length };
  };
  emit(node);
  push({ does: 'match' });
  return program;
}
