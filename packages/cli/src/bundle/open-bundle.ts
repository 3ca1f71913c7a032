import { type Bundle, type BundleProblem, loadBundle } from '@goondan/runtime/bundle';
import { GoondanError } from '@goondan/types';
import type { Terminal } from '../terminal.ts';
import { countProblems, printProblems } from './print-problems.ts';

interface OpenOptions {
  /** Selects the warnings to print. */
  readonly matters?: (warning: BundleProblem) => boolean;
  /** Says, in the suggestion of the error, what an invalid bundle leads to. */
  readonly outcome?: string;
}

/**
 * Opens a bundle to run it. Prints the errors of the bundle, and its warnings. A bundle that has only warnings is
 * opened.
 *
 * **Errors** — `E_BUNDLE_MISSING`, `E_BUNDLE_INVALID`.
 */
export async function openBundle(
  folder: string,
  terminal: Terminal,
  { matters = () => true, outcome = 'the bundle was not run' }: OpenOptions = {},
): Promise<Bundle> {
  const bundle = await readBundle(folder);
  const shown = { ...bundle, warnings: bundle.warnings.filter(matters) };
  printProblems(shown, folder, { print: terminal.printError, colors: terminal.errorColors });
  if (bundle.valid) return bundle;
  throw new InvalidBundle(bundle, `Correct the errors listed above; ${outcome}.`);
}

/** The errors of a bundle, as one error. With `--json`, it is printed with the list of problems. */
class InvalidBundle extends GoondanError {
  readonly problems: readonly BundleProblem[];

  constructor(bundle: Bundle, suggestion: string) {
    const message = `The bundle in "${bundle.folder}" has ${countProblems(bundle)}.`;
    super('E_BUNDLE_INVALID', message, { suggestion });
    this.problems = bundle.errors;
  }
}

/** Reads a bundle, even if it is invalid. **Errors** — `E_BUNDLE_MISSING`. */
export function readBundle(folder: string): Promise<Bundle> {
  return loadBundle(folder, { environment: process.env });
}
