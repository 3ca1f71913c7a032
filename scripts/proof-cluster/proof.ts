/** One part of `npm run proof -- cluster`. */
export interface Proof {
  readonly name: string;
  /** Whether it needs network namespaces, and with them root. */
  readonly needsWorld: boolean;
  run(context: ProofContext): Promise<Findings>;
}

export interface ProofContext {
  readonly seed: number;
  /** The number of kills of the proof `kill`. */
  readonly kills: number;
  /** Prints a line of progress. */
  readonly say: (line: string) => void;
}

export interface Findings {
  readonly figures: Readonly<Record<string, number | string>>;
  /** One line for each broken promise. */
  readonly problems: readonly string[];
}
