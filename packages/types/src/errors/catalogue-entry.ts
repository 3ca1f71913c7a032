export interface CatalogueEntry {
  /**
   * A program can meet it at run time and act on it: wait, try again, choose another agent. All other codes tell a person
   * what to correct, and more of them may be added for a case that one code covers today.
   */
  readonly forPrograms?: true;
  /** The cause of the error. */
  readonly meaning: string;
  /** The advice for the reader. */
  readonly suggestion: string;
}
