export interface CatalogueEntry {
  /**
   * If true, a program can handle this error at run time: wait, retry, or choose another agent. All other codes tell a
   * person what to correct. A later release may split such a code into several codes.
   */
  readonly forPrograms?: true;
  /** The cause of the error. */
  readonly meaning: string;
  /** Advice for the reader of the error. */
  readonly suggestion: string;
}
